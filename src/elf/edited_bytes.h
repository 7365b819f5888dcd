// Bytes with edits in them, without a copy of all that stays the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace berth::elf {

// New bytes, few at a time, for those at `offset`.
struct Edit {
  static constexpr std::size_t kMost = 24;

  std::uint64_t offset = 0;
  std::uint32_t size_bytes = 0;
  std::array<std::byte, kMost> bytes{};
};

// The original in parts, to be written one after the other: as it is where no
// edit is near, a copy with the edits made where one is.
// Owns     the copies. Borrows the original.
class EditedBytes {
 public:
  // Every edit must lie inside `original`. Where two meet, the later one in the
  // list wins.
  EditedBytes(base::Bytes original, const std::vector<Edit>& edits);

  const std::vector<base::Bytes>& parts() const noexcept { return parts_; }
  std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t size_;
  std::vector<std::vector<std::byte>> copies_;
  std::vector<base::Bytes> parts_;
};

}  // namespace berth::elf
