#include "model/input_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "model/complaint.h"
#include "shim/functions.h"
#include "shim/handle.h"
#include "tensor/hollow.h"
#include "tensor/layout.h"

namespace berth::model {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kNoDType = static_cast<DType>(127);

// One that a check would refuse in each of its numbers.
class Guess {
 public:
  // As many dimensions as a tensor may have, so that a check which looks at the
  // n-th finds one whatever the model's rank.
  Guess() {
    sizes_.fill(-1);
    strides_.fill(TensorSpec::kVaries);
  }

  Result<Tensor> tensor() const {
    return tensor::Hollow::make(sizes_, strides_, dtype_);
  }

  // Takes a complaint into account; false when it cannot be one about this.
  bool correct(const Complaint& complaint) {
    const std::size_t d = complaint.dimension;
    if (d >= tensor::kMostDims) return false;
    const auto expected = complaint.expected;
    if (complaint.about != Complaint::About::kDType)
      dims_ = std::max(dims_, d + 1);
    switch (complaint.about) {
      case Complaint::About::kDType:
        dtype_ = static_cast<DType>(expected);
        return element_size(dtype_) != 0;
      case Complaint::About::kSize:
        ranges_[d] = {expected, expected};
        return std::exchange(sizes_[d], expected) != expected && expected >= 0;
      case Complaint::About::kSizeTooSmall:
        ranges_[d] = {expected, kMax};
        return std::exchange(sizes_[d], kMax) < expected;
      case Complaint::About::kSizeTooLarge:
        ranges_[d].most = expected;
        return std::exchange(sizes_[d], expected) > expected &&
               expected >= ranges_[d].least;
      case Complaint::About::kStride:
        return std::exchange(strides_[d], expected) != expected &&
               expected >= 0;
    }
    return false;
  }

  TensorSpec spec() const {
    TensorSpec spec;
    spec.is_known = true;
    spec.dtype = dtype_;
    spec.sizes.assign(ranges_.begin(), ranges_.begin() + dims_);
    spec.strides.assign(strides_.begin(), strides_.begin() + dims_);
    return spec;
  }

 private:
  DType dtype_ = kNoDType;
  std::size_t dims_ = 0;
  std::array<std::int64_t, tensor::kMostDims> sizes_;
  std::array<std::int64_t, tensor::kMostDims> strides_;
  std::array<SizeRange, tensor::kMostDims> ranges_ = [] {
    std::array<SizeRange, tensor::kMostDims> any;
    any.fill({0, kMax});
    return any;
  }();
};

// A tensor, with memory that is never touched, that the checks let pass.
Result<Tensor> flawless(const TensorSpec& spec) {
  std::vector<std::int64_t> sizes;
  for (const SizeRange& range : spec.sizes) sizes.push_back(range.least);
  std::vector<std::int64_t> strides(sizes.size());
  BERTH_CHECK(tensor::checked_numel(sizes));
  tensor::contiguous_strides(sizes, strides.data());
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (spec.strides[d] != TensorSpec::kVaries) strides[d] = spec.strides[d];
  }
  return Tensor::empty_strided(sizes, strides, spec.dtype);
}

// Shows `inputs`, the last of which has a flaw, and returns what is said.
Result<std::optional<Complaint>> show(Container& container,
                                      std::span<const Tensor> inputs) {
  std::vector<AtenTensorHandle> handles(container.input_names().size());
  for (std::size_t i = 0; i < handles.size(); ++i) {
    handles[i] = shim::wrap(Tensor(inputs[i]));
    if (handles[i] != nullptr) continue;
    std::for_each_n(handles.begin(), i, shim::discard);
    return fail(Code::kOutOfMemory, "no memory for a handle");
  }
  std::vector<AtenTensorHandle> outputs(container.output_names().size());
  const Status status = container.run(handles, outputs);
  if (status) {
    std::ranges::for_each(outputs, shim::discard);
    return fail(Code::kIncompatible, "the model ran without its inputs");
  }
  return Complaint::find(status.error().message());
}

// What input `i` has to be, given those before it.
Result<TensorSpec> probe(Container& container, std::vector<Tensor>& shown,
                         std::size_t i) {
  Guess guess;
  for (;;) {
    BERTH_TRY(shown[i], guess.tensor());
    BERTH_TRY(const auto complaint, show(container, shown));
    // Nothing is left but that it has no memory.
    if (!complaint || complaint->input == i + 1) return guess.spec();
    if (complaint->input != i || !guess.correct(*complaint))
      return fail(Code::kIncompatible, "unexpected complaint");
  }
}

}  // namespace

bool checks_inputs(base::Bytes image) {
  const char* setting = berenv("AOTI_RUNTIME_CHECK_INPUTS");
  if (setting == nullptr || *setting == '\0' || *setting == '0') return false;
  constexpr std::string_view kText = "unmatched dtype, ";
  return ::memmem(image.data(), image.size(), kText.data(), kText.size()) !=
         nullptr;
}

std::vector<TensorSpec> probe_inputs(Container& container) {
  const std::size_t count = container.input_names().size();
  std::vector<TensorSpec> specs(count);
  const auto blank = Guess().tensor();
  if (!blank) return specs;
  std::vector<Tensor> shown(count, *blank);
  for (std::size_t i = 0; i < count; ++i) {
    auto spec = probe(container, shown, i);
    if (!spec || element_size(spec->dtype) == 0) break;
    auto passing = flawless(*spec);
    specs[i] = std::move(*spec);
    if (!passing) break;
    shown[i] = std::move(*passing);
  }
  return specs;
}

}  // namespace berth::model
