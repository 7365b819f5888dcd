// A model's constants, wherever they are kept.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::model {

// Owns     nothing: what it was made of must outlive it.
// Threads  one at a time.
class Weights {
 public:
  // The constant that the exported module called `name`, with the sizes and
  // strides that it had there. Fails with kNotFound, and as reading does.
  using Read =
      std::function<Result<Tensor>(std::string_view name, DType dtype)>;

  // All in one piece, in the library's order; none when it is empty.
  explicit Weights(base::Bytes blob) : blob_(blob) {}

  // Each by its name.
  explicit Weights(Read read) : read_(std::move(read)) {}

  bool are_named() const noexcept { return read_ != nullptr; }
  base::Bytes blob() const noexcept { return blob_; }
  Result<Tensor> read(std::string_view name, DType dtype) const {
    return read_(name, dtype);
  }

 private:
  base::Bytes blob_;
  Read read_;
};

}  // namespace berth::model
