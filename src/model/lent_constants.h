// The constants that one container reads and does not own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/tensor.h"
#include "model/aoti_abi.h"

namespace berth::model {

// Owns     the mapping on which the constants lie, their handles, and the
//          handles that the container made of those and left behind. Destroy it
//          after the container.
// Threads  one.
// Units    bytes.
// Fails    kSystem when the file cannot be mapped, kOutOfMemory.
class LentConstants {
 public:
  // A private, writable mapping of the first `size_bytes` of a file; of none
  // when it is empty.
  static Result<LentConstants> on(int file, std::size_t size_bytes);

  LentConstants(LentConstants&& other) noexcept;
  LentConstants& operator=(LentConstants&&) = delete;
  ~LentConstants();

  std::byte* memory() const noexcept { return memory_; }

  // Adds a tensor on that memory; an error is passed on.
  Status add(std::string name, Result<Tensor> tensor);

  // What the container is to be given, in the order of add(). Names are good as
  // long as the constants are not moved.
  std::vector<abi::ConstantMapEntry> entries() const;

  // Remembers the handles that the container holds now, in the same order. Some
  // may be missing.
  void note_held(std::span<const abi::ConstantMapEntry> held);

 private:
  struct Constant {
    std::string name;
    AtenTensorHandle given = nullptr;
    AtenTensorHandle held = nullptr;
  };

  LentConstants(std::byte* memory, std::size_t size_bytes) noexcept
      : memory_(memory), size_bytes_(size_bytes) {}

  std::byte* memory_;
  std::size_t size_bytes_;
  std::vector<Constant> constants_;
};

}  // namespace berth::model
