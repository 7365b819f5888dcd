#include "shim/ops/widen.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <vector>

namespace berth::shim {
namespace {

template <typename T>
class Widen : public testing::Test {};
using Types = testing::Types<tensor::Half, tensor::BFloat16>;
TYPED_TEST_SUITE(Widen, Types);

TYPED_TEST(Widen, EveryValueIsExact) {
  std::vector<TypeParam> from;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    from.push_back({static_cast<std::uint16_t>(bits)});
  std::vector<float> to(from.size());
  widen(from.data(), static_cast<std::int64_t>(from.size()), to.data());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float expected = to_float(from[i]);
    if (std::isnan(expected))  // A processor sets the quiet bit; we do not.
      ASSERT_TRUE(std::isnan(to[i])) << from[i].bits;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(to[i]),
                std::bit_cast<std::uint32_t>(expected))
          << from[i].bits;
  }
}

TYPED_TEST(Widen, AnyCountIsDoneAndNoMore) {
  const std::vector<TypeParam> from(40, TypeParam{0x3C00});
  for (std::int64_t count = 0; count <= 33; ++count) {
    std::vector<float> to(40, -1.0f);
    widen(from.data(), count, to.data());
    for (std::int64_t i = 0; i < 40; ++i)
      ASSERT_EQ(to[static_cast<std::size_t>(i)],
                i < count ? to_float(from[0]) : -1.0f);
  }
}

}  // namespace
}  // namespace berth::shim
