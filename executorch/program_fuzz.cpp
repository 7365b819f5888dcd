#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executorch/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  // A copy of exactly this size, so that reading past it is seen.
  const std::vector<std::uint8_t> copy(data, data + size);
  const auto program =
      berth::executorch::Program::parse(std::as_bytes(std::span(copy)));
  if (!program) return 0;
  std::size_t total = 0;
  for (const auto& [key, bytes] : program->named_data()) {
    total += key.size();
    for (const std::byte b : bytes) total += static_cast<std::size_t>(b);
  }
  return total == 1 ? 1 : 0;
}
