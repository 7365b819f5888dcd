#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>

namespace berth::base {
namespace {

struct Word {
  std::string_view name;
  bool CpuFeatures::*present;
};

constexpr std::array kWords = {
    Word{"AVX2", &CpuFeatures::avx2},
    Word{"AVX512", &CpuFeatures::avx512},
    Word{"AVX512_VNNI", &CpuFeatures::avx512_vnni},
    Word{"AMX_TILE", &CpuFeatures::amx_tile},
};

bool same_word(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) {
                      return std::toupper(x) == std::toupper(y);
                    });
}

#if defined(__x86_64__)
// g++ 12's __builtin_cpu_supports knows AMX; clang 14's does not. Leaf 7, EDX:
// bit 22 bfloat16, 24 tiles, 25 int8. XCR0 bits 17 and 18: the kernel saves the
// tile registers.
bool has_amx() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0)
    return false;
  unsigned low = 0;
  unsigned high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low >> 17 & 3u) != 3u) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kTileInt8Bf16 = 1u << 22 | 1u << 24 | 1u << 25;
  return (d & kTileInt8Bf16) == kTileInt8Bf16;
}

// Nor do both know these. Leaf 7, EDX: bit 23 float16. Its second page: EAX bit
// 5 bfloat16; EDX bit 4 int8 products, bit 5 conversions.
void find_narrow_floats(CpuFeatures& features) noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
  const unsigned pages = a;
  features.avx512_fp16 = features.avx512 && (d >> 23 & 1u) != 0;
  if (pages < 1 || __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return;
  features.avx512_bf16 = features.avx512 && (a >> 5 & 1u) != 0;
  features.avx_ne_convert = features.avx2 && (d >> 4 & 3u) == 3u;
}
#endif

}  // namespace

CpuFeatures CpuFeatures::of_this_machine() noexcept {
  CpuFeatures features;
#if defined(__x86_64__)
  // The builtin also asks whether the operating system saves the registers.
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") != 0 &&
                  __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi") != 0 &&
                  __builtin_cpu_supports("bmi2") != 0;
  features.avx512 = features.avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                    __builtin_cpu_supports("avx512dq") != 0 &&
                    __builtin_cpu_supports("avx512bw") != 0 &&
                    __builtin_cpu_supports("avx512vl") != 0;
  features.avx512_vnni =
      features.avx512 && __builtin_cpu_supports("avx512vnni") != 0;
  features.amx_tile = features.avx512_vnni && has_amx();
  find_narrow_floats(features);
#endif
  return features;
}

std::string_view first_unsupported(std::string_view names,
                                   const CpuFeatures& features) noexcept {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find_first_of(" ,"), names.size());
    const std::string_view name = names.substr(0, end);
    for (const Word& word : kWords) {
      if (same_word(name, word.name) && !(features.*word.present)) return name;
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return {};
}

std::string to_string(const CpuFeatures& features) {
  std::string text;
  for (const Word& word : kWords) {
    if (!(features.*word.present)) continue;
    if (!text.empty()) text += ' ';
    text += word.name;
  }
  return text.empty() ? "none beyond the baseline" : text;
}

}  // namespace berth::base
