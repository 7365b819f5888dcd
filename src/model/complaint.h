// One complaint of the code that torch generates to check a model's inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::model {

// A value.
struct Complaint {
  enum class About : std::uint8_t {
    kDType,
    kSize,
    kSizeTooSmall,
    kSizeTooLarge,
    kStride,
  };

  std::size_t input = 0;
  About about = About::kDType;
  std::size_t dimension = 0;  // 0 for a dtype.
  std::int64_t expected = 0;  // The bound, for a size that is beyond it.

  // The first one in `text`, if there is one. The words are those of torch 2.9
  // to 2.15:
  //
  //   input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7
  //   input_handles[0]: unmatched dim value at 1, expected: 64, but got: 3
  //   input_handles[0]: dim value is too small at 0, expected it to be >= 2,
  //   ... input_handles[0]: dim value is too large at 0, expected to be <= 64,
  //   ... input_handles[0]: unmatched stride value at 0, expected: 64, but got:
  //   1
  static std::optional<Complaint> find(std::string_view text);
};

}  // namespace berth::model
