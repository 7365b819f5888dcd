// The bytes of an archive: a file that is read piece by piece, or memory.
//
// A file is not mapped: one that is cut short meanwhile is an error then, and
// not a SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/file.h"
#include "berth/result.h"

namespace berth::pack {

// Owns     the file, or nothing: memory is borrowed.
// Threads  immutable; share freely.
// Units    bytes.
// Fails    kNotFound and kSystem, with the path or what was being read.
class Source {
 public:
  static Result<Source> open(const std::string& path);
  explicit Source(base::Bytes memory);

  std::uint64_t size() const noexcept { return size_; }

  // Fills `into` from `offset`; kCorrupt when not all of it is there.
  Status read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  Source() = default;

  base::Descriptor file_;  // Or none.
  base::Bytes memory_;
  std::uint64_t size_ = 0;
};

}  // namespace berth::pack
