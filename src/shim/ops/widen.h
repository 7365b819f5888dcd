// 16-bit floats to 32-bit ones, many at a time.
#pragma once

#include <cstdint>

#include "tensor/element.h"

namespace berth::shim {

// Writes `count` floats to `to`, which does not overlap `from`. Exact.
void widen(const tensor::Half* from, std::int64_t count, float* to) noexcept;
void widen(const tensor::BFloat16* from, std::int64_t count,
           float* to) noexcept;

}  // namespace berth::shim
