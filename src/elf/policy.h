// Whether a library may be mapped into this process, and every reason why not.
//
// The image says what the library needs, the host what there is. Nothing is
// mapped to find out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "elf/host.h"
#include "elf/identity.h"
#include "elf/image.h"

namespace berth::elf {

// What a library needs, sorted by who has it.
// Owns     its lists; the names are the library's own, views of the image's
//          bytes.
class Policy {
 public:
  using Names = std::vector<std::string_view>;

  Names served;         // Imports that Berth serves.
  Names not_served;     // aoti_torch_* that it should and does not.
  Names other_imports;  // All others.
  Names missing;        // Of the others: found nowhere.
  std::vector<std::string> missing_operators;  // That it calls by name.
  std::vector<std::string> refusals;  // Why it is not mapped; empty: it is.
  std::optional<Identity> identity;   // Nothing: it cannot be given one.

  // Looks at everything, also after a reason to refuse was found.
  // `entry_points` are the functions that the library must export;
  // `instruction_set` is what it was compiled for, or empty when nobody knows.
  // Asks the host for libraries before symbols, once for each.
  static Policy judge(const Image& image, const Host& host,
                      std::span<const std::string_view> entry_points,
                      std::string_view instruction_set = {});

  // All refusals in one error: kUnsupported when there are none but functions
  // of torch that Berth does not serve, otherwise kIncompatible.
  Status verdict() const;

 private:
  void judge_needs(const Image& image, const Host& host);
  void judge_import(const Symbol& symbol, const Host& host);

  Names absent_versions_;
};

}  // namespace berth::elf
