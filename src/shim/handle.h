// What delegates hold of a tensor: an opaque pointer to a Tensor of ours.
#pragma once

#include <cstddef>

#include "berth/result.h"
#include "berth/tensor.h"

// torch's names, so that the shim's types are torch's own.
struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
struct AOTIProxyExecutorOpaque;
using AOTIProxyExecutorHandle = AOTIProxyExecutorOpaque*;

namespace berth::shim {

// Owns     a handle owns its Tensor until unwrap() or discard(), which may be
//          called on another thread than wrap().
// Fails    wrap() returns null when there is no memory.
[[nodiscard]] AtenTensorHandle wrap(Tensor&& tensor) noexcept;

// Steals: the handle is gone. A null handle becomes a Tensor without storage.
Tensor unwrap(AtenTensorHandle handle) noexcept;

// Destroys the handle with its Tensor; nothing happens to null.
void discard(AtenTensorHandle handle) noexcept;

// The handle's Tensor, which the handle keeps. kInvalidArgument for null.
inline Result<Tensor*> borrow(AtenTensorHandle handle) {
  if (handle == nullptr) [[unlikely]]
    return fail(Code::kInvalidArgument, "tensor handle is null");
  return reinterpret_cast<Tensor*>(handle);
}

// Writes a handle for `tensor` to `*out`, or passes its error on.
Status give(Result<Tensor>&& tensor, AtenTensorHandle* out);

// Handles made and not yet unwrapped or discarded, in the whole process.
// Exact when no other thread is making or destroying any.
std::size_t live_handle_count() noexcept;

}  // namespace berth::shim
