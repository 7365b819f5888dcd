// oneDNN, opened when a product first needs it.
//
// It is not linked, because libtorch brings a oneDNN of its own and exports
// part of it: in a process that is linked to libtorch, the loader would bind
// the insides of ours to those of another version (seen: dnnl_sgemm returns
// "unimplemented"), and Berth's being visible to delegates would do the same to
// a libtorch that is loaded later. Opened like this, it binds to itself, and
// nobody else to it. Models without large products do not pay for it either.
#pragma once

#include <dnnl.h>

#include <type_traits>

#include "berth/result.h"

namespace berth::shim {

using DnnlSgemm = std::remove_pointer_t<decltype(&dnnl_sgemm)>;

// Fails with kSystem, naming the library, where there is none.
// Threads  any. The library stays open.
Result<DnnlSgemm*> find_dnnl_sgemm();

}  // namespace berth::shim
