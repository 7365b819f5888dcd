// Whether a library may be mapped into this process, and every reason why not.
//
// The image says what the library needs, the host what there is. Nothing is
// mapped to find out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "elf/host.h"
#include "elf/image.h"

namespace berth::elf {

// A value: what a library needs, sorted by who has it. Names are the library's
// own, before any renaming.
struct Policy {
  std::vector<std::string> served;  // Imports that Berth serves.
  std::vector<std::string>
      not_served;  // aoti_torch_* that it should and does not.
  std::vector<std::string> other_imports;  // All others.
  std::vector<std::string> missing;        // Of the others: found nowhere.
  std::vector<std::string> refusals;  // Why it is not mapped; empty: it is.

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

  // verdict() of judge().
  static Status check(const Image& image, const Host& host,
                      std::span<const std::string_view> entry_points,
                      std::string_view instruction_set = {}) {
    return judge(image, host, entry_points, instruction_set).verdict();
  }
};

}  // namespace berth::elf
