// oneDNN, opened when an operator first needs it.
//
// It is not linked, because libtorch brings a oneDNN of its own and exports
// part of it: in a process that is linked to libtorch, the loader would bind
// the insides of ours to those of another version (seen: dnnl_sgemm returns
// "unimplemented"), and Berth's being visible to delegates would do the same to
// a libtorch that is loaded later. Opened like this, it binds to itself, and
// nobody else to it. Models without large products do not pay for it either.
#pragma once

#include <dnnl.h>

#include "berth/result.h"

namespace berth::shim {

#define BERTH_DNNL_FUNCTIONS(X)              \
  X(sgemm)                                   \
  X(engine_create)                           \
  X(stream_create)                           \
  X(stream_wait)                             \
  X(stream_destroy)                          \
  X(memory_create)                           \
  X(memory_destroy)                          \
  X(memory_desc_equal)                       \
  X(memory_desc_get_size)                    \
  X(memory_desc_init_by_strides)             \
  X(memory_desc_init_by_tag)                 \
  X(primitive_attr_create)                   \
  X(primitive_attr_destroy)                  \
  X(primitive_attr_set_scratchpad_mode)      \
  X(primitive_create)                        \
  X(primitive_desc_create)                   \
  X(primitive_desc_destroy)                  \
  X(primitive_desc_query)                    \
  X(primitive_desc_query_md)                 \
  X(primitive_destroy)                       \
  X(primitive_execute)                       \
  X(primitive_get_primitive_desc)            \
  X(reorder_primitive_desc_create)           \
  X(dilated_convolution_forward_desc_init)   \
  X(dilated_deconvolution_forward_desc_init) \
  X(lstm_forward_desc_init)

// The functions of oneDNN that operators call: dnnl_sgemm is `sgemm`.
struct Dnnl {
#define BERTH_DNNL_FIELD(name) decltype(&dnnl_##name) name = nullptr;
  BERTH_DNNL_FUNCTIONS(BERTH_DNNL_FIELD)
#undef BERTH_DNNL_FIELD
};

// Fails with kSystem, naming the library, where there is none, or none with
// all these functions.
// Threads  any. The library stays open.
Result<const Dnnl*> find_dnnl();

}  // namespace berth::shim
