// An argument of a primitive, as its owner laid it out and as oneDNN wants it.
#pragma once

#include <dnnl.h>

#include <cstddef>
#include <optional>

#include "berth/result.h"
#include "shim/ops/dnnl_primitive.h"
#include "shim/ops/scratch.h"

namespace berth::shim {

// Owns     what copies between the two layouts, where they differ.
// Threads  const functions on any, at once.
// Fails    as DnnlPrimitive does.
class DnnlSide {
 public:
  // What `work` reads, or writes, as its argument `index` (DNNL_ARG_SRC and
  // the like).
  static Result<DnnlSide> read(const DnnlPrimitive& work, int index,
                               const dnnl_memory_desc_t& outside);
  static Result<DnnlSide> written(const DnnlPrimitive& work, int index,
                                  const dnnl_memory_desc_t& outside);

  // For the copy, or nothing where there is none to make.
  Result<Scratch<std::byte>> room() const;

  // The argument for the primitive: `data` itself, or the room of the copy.
  DnnlArgument argument(const void* data, const Scratch<std::byte>& room) const;

  // Before the primitive runs on what it reads, and after it has written.
  Status copy_in(const void* data, const Scratch<std::byte>& room) const;
  Status copy_out(const Scratch<std::byte>& room, void* data) const;

 private:
  DnnlSide() = default;
  static Result<DnnlSide> make(const DnnlPrimitive& work, int index,
                               const dnnl_memory_desc_t& outside, bool read);

  int index_ = 0;
  dnnl_memory_desc_t outside_{};
  dnnl_memory_desc_t inside_{};
  std::optional<DnnlPrimitive> copy_;
  std::int64_t bytes_ = 0;
};

}  // namespace berth::shim
