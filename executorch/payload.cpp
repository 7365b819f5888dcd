#include "executorch/payload.h"

#include <algorithm>

namespace berth::executorch {

Result<Payload> Payload::parse(std::string_view processed,
                               std::string_view method) {
  Payload payload;
  if (processed.empty()) {
    const std::string prefix(method);
    if (!prefix.empty())
      payload.candidates_.push_back(
          {prefix + "_so_blob", prefix + "_weights_blob"});
    payload.candidates_.push_back({"so_blob", "weights_blob"});
    return payload;
  }
  auto breaks = std::count(processed.begin(), processed.end(), '\n');
  // The last line may end in a newline or not. Keys may be empty.
  if (breaks == 2 && processed.back() == '\n') {
    processed.remove_suffix(1);
    --breaks;
  }
  if (breaks != 1)
    return fail(Code::kCorrupt,
                "the delegate's processed bytes should be two lines, a "
                "library's key and its weights' key, found ",
                breaks + 1, ": ", quoted_key(processed));
  const std::size_t middle = processed.find('\n');
  payload.candidates_.push_back({std::string(processed.substr(0, middle)),
                                 std::string(processed.substr(middle + 1))});
  return payload;
}

namespace {

std::string printable(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\') {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

std::string quoted_key(std::string_view key) {
  // Content keys are 64 digits and a word: both ends tell them apart.
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kEnd = 16;
  if (key.size() <= kLongest) return "'" + printable(key) + "'";
  return "'" + printable(key.substr(0, kEnd)) + "..." +
         printable(key.substr(key.size() - kEnd)) + "' (" +
         std::to_string(key.size()) + " bytes)";
}

}  // namespace berth::executorch
