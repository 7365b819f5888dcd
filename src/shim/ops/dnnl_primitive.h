// One operation of oneDNN, made once and run on any memory.
#pragma once

#include <dnnl.h>

#include <cstddef>
#include <span>

#include "berth/result.h"
#include "shim/ops/dnnl.h"

namespace berth::shim {

// Where an argument lies. Borrows both.
struct DnnlArgument {
  int index = 0;  // DNNL_ARG_SRC and the like.
  const dnnl_memory_desc_t* layout = nullptr;
  void* data = nullptr;
};

// oneDNN plans its work for this many threads when a primitive is made, which
// must not run with another count.
int dnnl_threads() noexcept;

// Owns     a primitive. What it needs while it runs comes from Scratch.
// Threads  run() on any, at once; each run has a stream of its own.
// Fails    kUnsupported where oneDNN has no such primitive, kOutOfMemory,
//          kSystem without the library, kInternal for all else it says.
class DnnlPrimitive {
 public:
  // `description` is a dnnl_convolution_desc_t or another one like it.
  static Result<DnnlPrimitive> make(const_dnnl_op_desc_t description);

  // Copies from one layout to another.
  static Result<DnnlPrimitive> reorder(const dnnl_memory_desc_t& from,
                                       const dnnl_memory_desc_t& to);

  DnnlPrimitive(DnnlPrimitive&& other) noexcept;
  DnnlPrimitive& operator=(DnnlPrimitive&&) = delete;
  ~DnnlPrimitive();

  // The layout that was chosen for an argument, DNNL_ARG_SRC and the like, as
  // long as the primitive lives.
  const dnnl_memory_desc_t& layout(int argument) const noexcept;

  // True for oneDNN's loops of last resort, which are slow beyond use.
  bool is_reference() const noexcept;

  // Returns when the work is done.
  Status run(std::span<const DnnlArgument> arguments) const;

 private:
  DnnlPrimitive(const Dnnl& dnnl, dnnl_primitive_t primitive) noexcept
      : dnnl_(&dnnl), primitive_(primitive) {}
  static Result<DnnlPrimitive> from(const Dnnl& dnnl,
                                    dnnl_primitive_desc_t description);

  const Dnnl* dnnl_;
  dnnl_primitive_t primitive_;
};

// A layout with these strides, in elements. Fails as above.
Result<dnnl_memory_desc_t> dnnl_layout(std::span<const std::int64_t> sizes,
                                       std::span<const std::int64_t> strides,
                                       dnnl_data_type_t type = dnnl_f32);

// One of oneDNN's own, for example dnnl_format_tag_any: what it likes best.
Result<dnnl_memory_desc_t> dnnl_layout(std::span<const std::int64_t> sizes,
                                       dnnl_format_tag_t tag,
                                       dnnl_data_type_t type = dnnl_f32);

}  // namespace berth::shim
