// Which instruction sets this machine runs.
#pragma once

#include <string>
#include <string_view>

namespace berth::base {

// What of the CPU, and of the operating system's support for it, matters to
// compiled models.
struct CpuFeatures {
  bool avx2 = false;    // With FMA, F16C, BMI1 and BMI2 (x86-64-v3).
  bool avx512 = false;  // F, DQ, BW and VL (x86-64-v4).
  bool avx512_vnni = false;
  bool amx_tile = false;  // With int8 and bfloat16.

  // torch does not compile for these by name, but computes with 16-bit floats
  // in other ways where they are.
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx_ne_convert = false;  // With AVX-VNNI-INT8.

  static CpuFeatures of_this_machine() noexcept;
};

// The first word of `names` that this CPU does not run, or nothing. `names` is
// what torch calls the target of a compiled model: words such as "AVX2" or
// "AVX512 AVX512_VNNI", in any case. Words that are not known are passed over:
// there is nothing to hold against them.
std::string_view first_unsupported(std::string_view names,
                                   const CpuFeatures& features) noexcept;

// The known words that this CPU runs, for error texts: "AVX2".
std::string to_string(const CpuFeatures& features);

}  // namespace berth::base
