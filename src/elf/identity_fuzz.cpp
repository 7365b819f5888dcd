// Whatever can be edited is an image afterwards, and editing it again changes
// nothing.
#include "elf/identity.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  if (!berth::elf::Identity::apply(bytes)) return 0;
  const std::vector<std::byte> once = bytes;
  if (!berth::elf::Identity::apply(bytes) || bytes != once) __builtin_trap();
  return 0;
}
