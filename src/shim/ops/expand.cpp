#include "shim/ops/expand.h"

#include <algorithm>
#include <array>

namespace berth::shim {

using tensor::Extents;
using tensor::to_text;

Result<Sizes> broadcast_sizes(Extents a, Extents b) {
  Sizes sizes(std::max(a.size(), b.size()), 1);
  for (const Extents each : {a, b}) {
    const std::size_t lead = sizes.size() - each.size();
    for (std::size_t d = 0; d < each.size(); ++d) {
      std::int64_t& size = sizes[lead + d];
      if (size != 1 && each[d] != 1 && size != each[d])
        return fail(Code::kInvalidArgument, "sizes ", to_text(a), " and ",
                    to_text(b), " cannot be expanded to common ones");
      if (size == 1) size = each[d];
    }
  }
  return sizes;
}

Result<Tensor> expand(const Tensor& self, Extents sizes) {
  std::array<std::int64_t, tensor::kMostDims> strides;  // NOLINT: written below
  if (sizes.size() > strides.size() ||
      !tensor::broadcast_strides(self.sizes(), self.strides(), sizes,
                                 strides.data()))
    return fail(Code::kInvalidArgument, "a tensor of sizes ",
                to_text(self.sizes()), " cannot be expanded to ",
                to_text(sizes));
  return self.view(sizes, Extents(strides).first(sizes.size()),
                   self.storage_offset());
}

}  // namespace berth::shim
