#include "shim/ops/cast.h"

#include "shim/ops/element_type.h"
#include "shim/ops/lines.h"

namespace berth::shim {
namespace {

template <typename From, typename To>
Status convert_as(const Tensor& from, const Tensor& to) {
  const std::size_t last =
      from.dim() == 0 ? 0 : static_cast<std::size_t>(from.dim() - 1);
  const Lines<2> lines({&from, &to}, last);
  return lines.each([&](const auto& offsets) -> Status {
    const auto source = lines.template line<const From>(0, offsets[0]);
    const auto target = lines.template line<To>(1, offsets[1]);
    for (std::int64_t i = 0; i < source.size; ++i)
      target[i] = narrow<To>(widen(source[i]));
    return ok();
  });
}

}  // namespace

Result<Tensor> cast(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) return self;
  BERTH_TRY(Tensor made, Tensor::empty(self.sizes(), dtype));
  BERTH_CHECK(with_real_type(self.dtype(), "a conversion", [&](auto from) {
    return with_real_type(dtype, "a conversion", [&](auto to) {
      return convert_as<typename decltype(from)::type,
                        typename decltype(to)::type>(self, made);
    });
  }));
  return made;
}

}  // namespace berth::shim
