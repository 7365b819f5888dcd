// Whatever can be edited is an image afterwards, and editing it again changes
// nothing.
#include "elf/identity_testing.h"

using berth::elf::testing::apply;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  if (!apply(bytes)) return 0;
  const std::vector<std::byte> once = bytes;
  if (!apply(bytes) || bytes != once) __builtin_trap();
  return 0;
}
