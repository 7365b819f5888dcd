// Operators that only look at a tensor's memory in another way.
#include "shim/ops/views.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/expand.h"
#include "shim/ops/lines.h"
#include "shim/trap.h"

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::trap;

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

Sizes copied(Extents extents) { return {extents.begin(), extents.end()}; }

Result<Tensor> permute(const Tensor& self, Extents dims) {
  const auto rank = self.sizes().size();
  Sizes sizes;
  Sizes strides;
  std::vector<bool> taken(rank, false);
  for (const std::int64_t dim : dims) {
    BERTH_TRY(const std::size_t at, wrap_dim(dim, self.dim()));
    if (at >= rank || taken[at]) break;
    taken[at] = true;
    sizes.push_back(self.sizes()[at]);
    strides.push_back(self.strides()[at]);
  }
  if (dims.size() != rank || sizes.size() != rank)
    return fail(Code::kInvalidArgument, "the dimensions of a tensor of sizes ",
                to_text(self.sizes()), " cannot be ordered as ", to_text(dims));
  return self.view(sizes, strides, self.storage_offset());
}

// Elements `start`, `start + step`, ... before `end`, which are clamped.
Result<Tensor> slice(const Tensor& self, std::int64_t dim, std::int64_t start,
                     std::int64_t end, std::int64_t step) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  if (self.dim() == 0 || step < 1)
    return fail(Code::kInvalidArgument, "a tensor of sizes ",
                to_text(self.sizes()), " cannot be sliced with step ", step);
  Sizes sizes = copied(self.sizes());
  Sizes strides = copied(self.strides());
  const std::int64_t size = sizes[along];
  const auto clamped = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  start = clamped(start);
  const std::int64_t length = std::max<std::int64_t>(clamped(end) - start, 0);
  sizes[along] = length / step + (length % step != 0);
  const std::int64_t offset = self.storage_offset() + start * strides[along];
  // Saturates: the stride of a single element is never used.
  strides[along] = tensor::outer_stride(strides[along], step);
  return self.view(sizes, strides, offset);
}

Result<Tensor> narrow_to(const Tensor& self, std::int64_t dim,
                         std::int64_t start, std::int64_t length) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  const std::int64_t size = self.dim() == 0 ? 0 : self.sizes()[along];
  if (start < 0) start += size;
  if (start < 0 || length < 0 || start > size || length > size - start)
    return fail(Code::kInvalidArgument, length, " elements from ", start,
                " are not in dimension ", dim, " of sizes ",
                to_text(self.sizes()));
  return slice(self, dim, start, start + length, 1);
}

// Sizes with their -1 replaced.
Result<Sizes> inferred(Extents wanted, std::int64_t numel) {
  Sizes sizes = copied(wanted);
  const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
  if (unknown != sizes.end()) *unknown = 1;
  const auto known = tensor::checked_numel(sizes);
  const bool fits =
      known && (unknown == sizes.end() ? *known == numel
                                       : *known != 0 && numel % *known == 0);
  if (!fits)
    return fail(Code::kInvalidArgument, numel,
                " elements cannot be given the sizes ", to_text(wanted));
  if (unknown != sizes.end()) *unknown = numel / *known;
  return sizes;
}

// The strides with which `self` has the sizes `wanted`, or none: each run of
// old dimensions without a gap between them is cut into new ones.
std::optional<Sizes> view_strides(const Tensor& self, const Sizes& wanted) {
  Sizes strides(wanted.size(), 1);
  if (self.numel() == 0) {
    tensor::contiguous_strides(wanted, strides.data());
    return strides;
  }
  std::size_t made = wanted.size();
  std::int64_t base = 1;
  std::int64_t run = 1;   // Elements of the run of old dimensions.
  std::int64_t used = 1;  // Elements of the new ones that cover it.
  const auto sizes = self.sizes();
  const auto steps = self.strides();
  if (!sizes.empty()) base = steps.back();
  for (std::size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    const bool ends =
        d == 0 || (sizes[d - 1] != 1 && steps[d - 1] != run * base);
    if (!ends) continue;
    while (made > 0 && (used < run || wanted[made - 1] == 1)) {
      strides[--made] = used * base;
      used *= wanted[made];
    }
    if (used != run) return std::nullopt;
    if (d > 0) {
      base = steps[d - 1];
      run = used = 1;
    }
  }
  for (; made > 0; --made) {
    if (wanted[made - 1] != 1) return std::nullopt;
    strides[made - 1] = used * base;
  }
  return strides;
}

Result<Tensor> reshape(const Tensor& self, Extents shape) {
  BERTH_TRY(const Sizes sizes, inferred(shape, self.numel()));
  if (const auto strides = view_strides(self, sizes))
    return self.view(sizes, *strides, self.storage_offset());
  BERTH_TRY(const Tensor made, self.clone());
  Sizes strides(sizes.size());
  tensor::contiguous_strides(sizes, strides.data());
  return made.view(sizes, strides, 0);
}

}  // namespace

Result<Tensor> squeeze(const Tensor& self, std::int64_t dim) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  if (self.dim() == 0 || self.sizes()[along] != 1) return self;
  Sizes sizes = copied(self.sizes());
  Sizes strides = copied(self.strides());
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(along));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(along));
  return self.view(sizes, strides, self.storage_offset());
}

}  // namespace berth::shim

std::int32_t aoti_berth_cpu_permute(AtenTensorHandle self,
                                    const std::int64_t* dims,
                                    std::int64_t dims_len,
                                    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    BERTH_TRY(const auto order, berth::shim::list_of(dims, dims_len));
    return give(berth::shim::permute(*tensor, order), out);
  });
}

std::int32_t aoti_berth_cpu_narrow(AtenTensorHandle self, std::int64_t dim,
                                   std::int64_t start, std::int64_t length,
                                   AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::narrow_to(*tensor, dim, start, length), out);
  });
}

std::int32_t aoti_berth_cpu_slice_Tensor(AtenTensorHandle self,
                                         std::int64_t dim, std::int64_t* start,
                                         std::int64_t* end, std::int64_t step,
                                         AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::slice(*tensor, dim, start ? *start : 0,
                                   end ? *end : kEnd, step),
                out);
  });
}

std::int32_t aoti_berth_cpu_squeeze_dim(AtenTensorHandle self, std::int64_t dim,
                                        AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::squeeze(*tensor, dim), out);
  });
}

std::int32_t aoti_berth_cpu_reshape(AtenTensorHandle self,
                                    const std::int64_t* shape,
                                    std::int64_t shape_len,
                                    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    BERTH_TRY(const auto sizes, berth::shim::list_of(shape, shape_len));
    return give(berth::shim::reshape(*tensor, sizes), out);
  });
}
