#include "shim/ops/gemm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shim/functions.h"
#include "shim/ops/product.h"
#include "shim/trap.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

// An operand with a batch dimension, of step 0 when it has none of its own.
struct Operand {
  std::byte* data = nullptr;
  std::array<std::int64_t, 3> sizes{1, 1, 1};
  std::array<std::int64_t, 3> steps{0, 0, 0};

  Operand() = default;
  explicit Operand(const Tensor& tensor)
      : Operand(tensor, tensor.sizes(), tensor.strides()) {}
  Operand(const Tensor& tensor, Extents size, Extents stride)
      : data(static_cast<std::byte*>(tensor.data())) {
    std::copy_backward(size.begin(), size.end(), sizes.end());
    std::copy_backward(stride.begin(), stride.end(), steps.end());
  }

  template <typename T>
  Matrix<T> matrix(std::int64_t batch) const {
    if (data == nullptr) return {nullptr, sizes[1], sizes[2], 0, 0};
    return {reinterpret_cast<T*>(data) + batch * steps[0], sizes[1], sizes[2],
            steps[1], steps[2]};
  }

  // One past the last byte.
  const std::byte* end(std::size_t element) const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (sizes[i] == 0) return data;
      last += (sizes[i] - 1) * steps[i];
    }
    return data + static_cast<std::size_t>(last + 1) * element;
  }
};

struct Call {
  Operand out, self, a, b;
  double beta;
  double alpha;
};

bool overlap(const Operand& a, const Operand& b, std::size_t element) {
  return a.data < b.end(element) && b.data < a.end(element);
}

template <typename T>
Status run_as(const Call& call) {
  if constexpr (std::is_integral_v<T>) {
    if (call.beta != std::trunc(call.beta) ||
        call.alpha != std::trunc(call.alpha))
      return fail(Code::kInvalidArgument,
                  "beta and alpha of integer matrices must be whole numbers, "
                  "found ",
                  call.beta, " and ", call.alpha);
  }
  for (std::int64_t i = 0; i < call.out.sizes[0]; ++i) {
    const Product<T> product{call.a.matrix<const T>(i),
                             call.b.matrix<const T>(i),
                             call.self.matrix<const T>(i),
                             call.out.matrix<T>(i),
                             call.beta,
                             call.alpha};
    BERTH_CHECK(multiply(product));
  }
  return ok();
}

Status run(const Call& call, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return run_as<float>(call);
    case DType::kFloat64:
      return run_as<double>(call);
    case DType::kFloat16:
      return run_as<tensor::Half>(call);
    case DType::kBFloat16:
      return run_as<tensor::BFloat16>(call);
    case DType::kUInt8:
      return run_as<std::uint8_t>(call);
    case DType::kInt8:
      return run_as<std::int8_t>(call);
    case DType::kInt16:
      return run_as<std::int16_t>(call);
    case DType::kInt32:
      return run_as<std::int32_t>(call);
    case DType::kInt64:
      return run_as<std::int64_t>(call);
    default:
      return fail(Code::kUnsupported, "matrices of ", to_string(dtype),
                  " cannot be multiplied");
  }
}

Status check(const Tensor& out, const Tensor& a, const Tensor& b) {
  const Extents x = a.sizes();
  const Extents y = b.sizes();
  const auto rank = x.size();
  const bool fits = (rank == 2 || rank == 3) && y.size() == rank &&
                    x[rank - 1] == y[rank - 2] && (rank == 2 || x[0] == y[0]);
  if (!fits)
    return fail(Code::kInvalidArgument, "matrices of sizes ", to_text(x),
                " and ", to_text(y), " cannot be multiplied");
  std::array<std::int64_t, 3> wanted{x[0], x[rank - 2], y[rank - 1]};
  const Extents expected = Extents(wanted).last(rank);
  if (!std::ranges::equal(out.sizes(), expected))
    return fail(Code::kInvalidArgument, "expected an out of sizes ",
                to_text(expected), ", found ", to_text(out.sizes()));
  for (const Tensor* other : {&b, &out}) {
    if (other->dtype() != a.dtype())
      return fail(Code::kInvalidArgument, "expected matrices of ",
                  to_string(a.dtype()), ", found ", to_string(other->dtype()));
  }
  return ok();
}

// (a @ b)^T is b^T @ a^T: how a column-major out becomes a row-major one.
Call transposed(const Call& call) {
  Call turned = call;
  std::swap(turned.a, turned.b);
  for (Operand* each : {&turned.out, &turned.self, &turned.a, &turned.b}) {
    std::swap(each->sizes[1], each->sizes[2]);
    std::swap(each->steps[1], each->steps[2]);
  }
  return turned;
}

}  // namespace

Status gemm(Tensor& out, const Tensor* self, const Tensor& a, const Tensor& b,
            double beta, double alpha) {
  BERTH_CHECK(check(out, a, b));
  Call call{Operand(out), {}, Operand(a), Operand(b), beta, alpha};
  if (self != nullptr) {
    if (self->dtype() != a.dtype())
      return fail(Code::kInvalidArgument, "expected self of ",
                  to_string(a.dtype()), ", found ", to_string(self->dtype()));
    std::array<std::int64_t, 3> steps{};
    if (!tensor::broadcast_strides(self->sizes(), self->strides(), out.sizes(),
                                   steps.data()))
      return fail(Code::kInvalidArgument, "self of sizes ",
                  to_text(self->sizes()), " cannot be expanded to ",
                  to_text(out.sizes()));
    call.self =
        Operand(*self, out.sizes(), Extents(steps).first(out.sizes().size()));
  }
  if (out.numel() == 0) return ok();
  const std::size_t element = element_size(a.dtype());
  const bool in_place =
      call.self.data == call.out.data && call.self.steps == call.out.steps;
  const bool overlaps =
      overlap(call.a, call.out, element) ||
      overlap(call.b, call.out, element) ||
      (beta != 0 && !in_place && overlap(call.self, call.out, element));
  const auto matrix = call.out.matrix<std::byte>(0);
  if (!overlaps && matrix.leading() != 0) return run(call, a.dtype());
  if (!overlaps && matrix.transposed().leading() != 0)
    return run(transposed(call), a.dtype());
  BERTH_TRY(const Tensor result, Tensor::empty(out.sizes(), out.dtype()));
  call.out = Operand(result);
  BERTH_CHECK(run(call, a.dtype()));
  return out.copy_from(result);
}

}  // namespace berth::shim

namespace {

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::gemm;
using berth::shim::trap;

Status add(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle a,
           AtenTensorHandle b, double beta, double alpha) {
  BERTH_TRY(Tensor * to, borrow(out));
  BERTH_TRY(const Tensor* ground, borrow(self));
  BERTH_TRY(const Tensor* left, borrow(a));
  BERTH_TRY(const Tensor* right, borrow(b));
  return gemm(*to, ground, *left, *right, beta, alpha);
}

Status multiply(AtenTensorHandle out, AtenTensorHandle a, AtenTensorHandle b) {
  BERTH_TRY(Tensor * to, borrow(out));
  BERTH_TRY(const Tensor* left, borrow(a));
  BERTH_TRY(const Tensor* right, borrow(b));
  return gemm(*to, nullptr, *left, *right, 0, 1);
}

}  // namespace

std::int32_t aoti_berth_cpu_mm_out(AtenTensorHandle out, AtenTensorHandle self,
                                   AtenTensorHandle mat2) {
  return trap(__func__, [&] { return multiply(out, self, mat2); });
}

std::int32_t aoti_berth_cpu_addmm_out(AtenTensorHandle out,
                                      AtenTensorHandle self,
                                      AtenTensorHandle mat1,
                                      AtenTensorHandle mat2, double beta,
                                      double alpha) {
  return trap(__func__,
              [&] { return add(out, self, mat1, mat2, beta, alpha); });
}

std::int32_t aoti_berth_cpu_bmm_out(AtenTensorHandle out, AtenTensorHandle self,
                                    AtenTensorHandle mat2) {
  return trap(__func__, [&] { return multiply(out, self, mat2); });
}

std::int32_t aoti_berth_cpu_baddbmm_out(AtenTensorHandle out,
                                        AtenTensorHandle self,
                                        AtenTensorHandle batch1,
                                        AtenTensorHandle batch2, double beta,
                                        double alpha) {
  return trap(__func__,
              [&] { return add(out, self, batch1, batch2, beta, alpha); });
}

// Rounds after each product, as torch does.
std::int32_t aoti_berth__mm_plus_mm_out(AtenTensorHandle out,
                                        AtenTensorHandle a, AtenTensorHandle b,
                                        AtenTensorHandle c,
                                        AtenTensorHandle d) {
  return trap(__func__, [&]() -> Status {
    BERTH_CHECK(multiply(out, a, b));
    return add(out, out, c, d, 1, 1);
  });
}
