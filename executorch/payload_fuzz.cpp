// The first byte splits the input into processed bytes and method name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "executorch/payload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t split = data[0] < text.size() ? data[0] : text.size();
  const std::string_view processed = text.substr(split);
  const auto payload =
      berth::executorch::Payload::parse(processed, text.substr(0, split));
  if (!payload) return 0;
  for (const auto& keys : payload->candidates()) {
    // Lines hold no newline; a method's name, of which older keys are made,
    // may.
    if (!processed.empty() && keys.library.find('\n') != std::string::npos)
      __builtin_trap();
    if (berth::executorch::quoted_key(keys.weights).size() > 400)
      __builtin_trap();
  }
  return 0;
}
