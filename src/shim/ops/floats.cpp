#include "shim/ops/floats.h"

#include <algorithm>

#include "shim/ops/empty_like.h"
#include "shim/ops/widen.h"

namespace berth::shim {
namespace {

using tensor::BFloat16;
using tensor::Half;

tl::unexpected<Error> unsupported(DType dtype) {
  return fail(Code::kUnsupported, "expected floats, found ", to_string(dtype));
}

}  // namespace

Result<Tensor> widened(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kFloat32) return tensor;
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16)
    return unsupported(dtype);
  BERTH_TRY(Tensor wide, empty_like(tensor, DType::kFloat32));
  Tensor dense = tensor;
  if (!std::ranges::equal(wide.strides(), tensor.strides())) {
    BERTH_TRY(dense, empty_like(tensor, dtype));
    BERTH_CHECK(dense.copy_from(tensor));
  }
  auto* const to = static_cast<float*>(wide.data());
  if (dtype == DType::kFloat16)
    widen(static_cast<const Half*>(dense.data()), dense.numel(), to);
  else
    widen(static_cast<const BFloat16*>(dense.data()), dense.numel(), to);
  return wide;
}

Status narrow(const Tensor& floats, const Tensor& out) {
  if (out.numel() == 0) return ok();
  const auto* const from = static_cast<const float*>(floats.data());
  const float* const end = from + floats.numel();
  switch (out.dtype()) {
    case DType::kFloat32:
      if (out.data() != floats.data())
        std::copy(from, end, static_cast<float*>(out.data()));
      return ok();
    case DType::kFloat16:
      std::transform(from, end, static_cast<Half*>(out.data()),
                     tensor::to_half);
      return ok();
    case DType::kBFloat16:
      std::transform(from, end, static_cast<BFloat16*>(out.data()),
                     tensor::to_bfloat16);
      return ok();
    default:
      return unsupported(out.dtype());
  }
}

}  // namespace berth::shim
