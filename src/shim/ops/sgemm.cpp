#include "shim/ops/sgemm.h"

#include <optional>

#include "shim/ops/dnnl.h"
#include "shim/ops/scratch.h"
#include "shim/ops/small_sgemm.h"
#include "tensor/copy.h"

namespace berth::shim {
namespace {

// An operand as BLAS takes it: rows of neighbors, or columns of neighbors.
struct Operand {
  const float* data;
  char transposed;
  std::int64_t leading;
};

std::optional<Operand> in_place(const Matrix<const float>& m) noexcept {
  if (const std::int64_t leading = m.leading())
    return Operand{m.data, 'N', leading};
  if (const std::int64_t leading = m.transposed().leading())
    return Operand{m.data, 'T', leading};
  return std::nullopt;
}

Result<Scratch<float>> copy_of(const Matrix<const float>& m) {
  BERTH_TRY(Scratch<float> copy, Scratch<float>::of(m.rows * m.cols));
  const std::int64_t sizes[] = {m.rows, m.cols};
  const std::int64_t from[] = {m.row_step, m.col_step};
  const std::int64_t to[] = {m.cols, 1};
  tensor::copy_elements(sizes, sizeof(float),
                        reinterpret_cast<const std::byte*>(m.data), from,
                        reinterpret_cast<std::byte*>(copy.data()), to);
  return copy;
}

void scale(float beta, const Matrix<float>& out) noexcept {
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t j = 0; j < out.cols; ++j) {
      float& to = out.at(i, j);
      to = beta == 0 ? 0 : beta * to;
    }
}

}  // namespace

Status sgemm(float alpha, const Matrix<const float>& a,
             const Matrix<const float>& b, float beta,
             const Matrix<float>& out) {
  if (out.rows == 0 || out.cols == 0) return ok();
  if (a.cols == 0) {
    scale(beta, out);
    return ok();
  }
  if (small_sgemm(alpha, a, b, beta, out)) return ok();
  const std::optional<Operand> left = in_place(a);
  if (!left) {
    BERTH_TRY(const Scratch<float> copy, copy_of(a));
    return sgemm(alpha, packed<const float>(copy.data(), a.rows, a.cols), b,
                 beta, out);
  }
  const std::optional<Operand> right = in_place(b);
  if (!right) {
    BERTH_TRY(const Scratch<float> copy, copy_of(b));
    return sgemm(alpha, a, packed<const float>(copy.data(), b.rows, b.cols),
                 beta, out);
  }
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  const dnnl_status_t status =
      dnnl->sgemm(left->transposed, right->transposed, out.rows, out.cols,
                  a.cols, alpha, left->data, left->leading, right->data,
                  right->leading, beta, out.data, out.leading());
  if (status == dnnl_out_of_memory)
    return fail(Code::kOutOfMemory, "oneDNN found no memory for a product of ",
                out.rows, "x", a.cols, " and ", a.cols, "x", out.cols);
  if (status != dnnl_success)
    return fail(Code::kInternal, "dnnl_sgemm returned ",
                static_cast<int>(status), " for a product of ", out.rows, "x",
                a.cols, " and ", a.cols, "x", out.cols);
  return ok();
}

}  // namespace berth::shim
