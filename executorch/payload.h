// What a delegate's processed bytes say: under which keys its library and its
// weights lie in the program's named data.
//
// Keys are untrusted, of any length and content. They are looked up and quoted,
// nothing else: no file is ever named after one.
//
// Format: docs/formats.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/export.h"
#include "berth/result.h"

namespace berth::executorch {

// One place to look: a library's key and its weights'.
struct Keys {
  std::string library;
  std::string weights;
};

// Owns     copies of the keys.
// Fails    kCorrupt when the processed bytes are there and are not two lines.
class Payload {
 public:
  // `processed` is two lines, the library's key and the weights' key. Empty in
  // older programs, whose keys follow from the method's name.
  static Result<Payload> parse(std::string_view processed,
                               std::string_view method);

  // Where to look, in order; never empty.
  const std::vector<Keys>& candidates() const noexcept { return candidates_; }

 private:
  Payload() = default;
  std::vector<Keys> candidates_;
};

// `key` for an error text: printable, and without its middle when it is long.
BERTH_API std::string quoted_key(std::string_view key);

}  // namespace berth::executorch
