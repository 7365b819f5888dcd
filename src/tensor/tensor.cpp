#include "berth/tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "base/checked.h"
#include "tensor/copy.h"
#include "tensor/layout.h"
#include "tensor/storage.h"

namespace berth {

using tensor::Extents;
using tensor::Footprint;
using tensor::Storage;
using tensor::to_text;

namespace {

// What a layout asks of its storage. Used by reference where it was returned:
// copying it right after it was written stalls, and making a view is hot.
struct Need {
  std::int64_t numel;
  std::size_t bytes;

  Status check(std::size_t size_bytes, Extents sizes, Extents strides,
               std::int64_t offset, DType dtype) const {
    if (bytes <= size_bytes) return ok();
    return fail(Code::kInvalidArgument, "sizes ", to_text(sizes), ", strides ",
                to_text(strides), " and storage offset ", offset, " of ",
                to_string(dtype), " need ", bytes, " bytes, storage has ",
                size_bytes);
  }
};

Result<Need> need_of(Extents sizes, Extents strides, std::int64_t offset,
                     DType dtype) {
  const std::size_t element = element_size(dtype);
  if (element == 0)
    return fail(Code::kInvalidArgument, "dtype code ",
                static_cast<std::int32_t>(dtype), " is unknown");
  BERTH_TRY(const Footprint& covered, tensor::measure(sizes, strides, offset));
  const auto bytes =
      base::product(static_cast<std::size_t>(covered.end), element);
  if (!bytes)
    return fail(Code::kInvalidArgument, covered.end, " elements of ",
                to_string(dtype), " are more bytes than 64 bits can count");
  return Need{covered.numel, *bytes};
}

using StrideBuffer = std::array<std::int64_t, tensor::kMostDims>;

// Row-major strides, kept in `buffer`.
Result<Extents> row_major(Extents sizes, StrideBuffer& buffer) {
  BERTH_CHECK(tensor::checked_numel(sizes));
  tensor::contiguous_strides(sizes, buffer.data());
  return Extents(buffer).first(sizes.size());
}

}  // namespace

// One dimension of size 0 and stride 1, as torch's undefined tensor has it.
Tensor::Tensor() noexcept : inline_extents_{0, 1} {}

Tensor::Tensor(const Tensor& other)
    : storage_(other.storage_),
      data_(other.data_),
      offset_(other.offset_),
      numel_(other.numel_),
      dim_(other.dim_),
      dtype_(other.dtype_) {
  share_extents(other);
  if (dim_ > kInlineDims) shared_extents_->retain();
  if (storage_ != nullptr) storage_->retain();
}

Tensor::Tensor(Tensor&& other) noexcept
    : storage_(std::exchange(other.storage_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      offset_(std::exchange(other.offset_, 0)),
      numel_(std::exchange(other.numel_, 0)),
      dim_(std::exchange(other.dim_, 1)),
      dtype_(other.dtype_) {
  share_extents(other);
  other.inline_extents_[0] = 0;
  other.inline_extents_[1] = 1;
}

Tensor& Tensor::operator=(const Tensor& other) { return *this = Tensor(other); }

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this != &other) {
    this->~Tensor();
    new (this) Tensor(std::move(other));
  }
  return *this;
}

Tensor::~Tensor() {
  if (dim_ > kInlineDims) shared_extents_->release();
  if (storage_ != nullptr) storage_->release();
}

void Tensor::share_extents(const Tensor& other) noexcept {
  // The whole union, whichever member it holds: a few vector moves, where as
  // many numbers as there are dimensions would be a call.
  std::memcpy(inline_extents_, other.inline_extents_, sizeof(inline_extents_));
}

const std::int64_t* Tensor::extents() const noexcept {
  if (dim_ <= kInlineDims) return inline_extents_;
  return reinterpret_cast<const std::int64_t*>(shared_extents_->data());
}

std::span<const std::int64_t> Tensor::sizes() const noexcept {
  return {extents(), static_cast<std::size_t>(dim_)};
}

std::span<const std::int64_t> Tensor::strides() const noexcept {
  return {extents() + dim_, static_cast<std::size_t>(dim_)};
}

// Takes over the caller's share of `storage`, which is known to have room.
Result<Tensor> Tensor::make(Storage* storage, std::int64_t numel, Extents sizes,
                            Extents strides, std::int64_t offset, DType dtype) {
  Result<Tensor> made;
  Tensor& tensor = *made;
  tensor.storage_ = storage;
  const auto dims = static_cast<std::int64_t>(sizes.size());
  std::int64_t* extents = tensor.inline_extents_;
  if (dims > kInlineDims) {
    Storage* shared = Storage::create(2 * sizes.size() * sizeof(*extents));
    if (shared == nullptr)
      return fail(Code::kOutOfMemory, "no memory for ", dims, " dimensions");
    tensor.shared_extents_ = shared;
    extents = reinterpret_cast<std::int64_t*>(shared->data());
  }
  tensor.dim_ = dims;
  for (std::int64_t i = 0; i < dims; ++i) {
    extents[i] = sizes[static_cast<std::size_t>(i)];
    extents[dims + i] = strides[static_cast<std::size_t>(i)];
  }
  tensor.offset_ = offset;
  tensor.numel_ = numel;
  tensor.dtype_ = dtype;
  // An empty view may start anywhere, also past its storage: no arithmetic.
  tensor.data_ = numel == 0
                     ? storage->data()
                     : storage->data() + static_cast<std::size_t>(offset) *
                                             element_size(dtype);
  return made;
}

Result<Tensor> Tensor::empty(Extents sizes, DType dtype) {
  StrideBuffer buffer;  // NOLINT: as much of it as is used is written
  BERTH_TRY(const Extents strides, row_major(sizes, buffer));
  return empty_strided(sizes, strides, dtype);
}

Result<Tensor> Tensor::empty_strided(Extents sizes, Extents strides,
                                     DType dtype) {
  BERTH_TRY(const Need& need, need_of(sizes, strides, 0, dtype));
  Storage* storage = Storage::create(need.bytes);
  if (storage == nullptr)
    return fail(Code::kOutOfMemory, "no memory for ", need.bytes,
                " bytes of sizes ", to_text(sizes), " of ", to_string(dtype));
  return make(storage, need.numel, sizes, strides, 0, dtype);
}

Result<Tensor> Tensor::borrow(void* data, std::size_t size_bytes, Extents sizes,
                              Extents strides, DType dtype) {
  if (strides.empty() && !sizes.empty()) {
    StrideBuffer buffer;  // NOLINT: as above
    BERTH_TRY(const Extents made, row_major(sizes, buffer));
    return borrow(data, size_bytes, sizes, made, dtype);
  }
  BERTH_TRY(const Need& need, need_of(sizes, strides, 0, dtype));
  BERTH_CHECK(need.check(size_bytes, sizes, strides, 0, dtype));
  if (need.numel > 0 && data == nullptr)
    return fail(Code::kInvalidArgument, "null data for ", need.numel,
                " elements of sizes ", to_text(sizes));
  Storage* storage = Storage::borrow(data, size_bytes);
  if (storage == nullptr)
    return fail(Code::kOutOfMemory, "no memory for a tensor's description");
  return make(storage, need.numel, sizes, strides, 0, dtype);
}

Result<Tensor> Tensor::view(Extents sizes, Extents strides,
                            std::int64_t storage_offset) const {
  if (storage_ == nullptr)
    return fail(Code::kInvalidArgument, "cannot view a tensor without storage");
  BERTH_TRY(const Need& need, need_of(sizes, strides, storage_offset, dtype_));
  BERTH_CHECK(need.check(storage_->size_bytes(), sizes, strides, storage_offset,
                         dtype_));
  if (need.numel > 0 && storage_->data() == nullptr)
    return fail(Code::kInvalidArgument, "null data for ", need.numel,
                " elements of sizes ", to_text(sizes));
  storage_->retain();
  return make(storage_, need.numel, sizes, strides, storage_offset, dtype_);
}

Result<Tensor> Tensor::clone() const {
  BERTH_TRY(Tensor copy, empty(sizes(), dtype_));
  BERTH_CHECK(copy.copy_from(*this));
  return copy;
}

Status Tensor::copy_from(const Tensor& source) {
  if (source.dtype_ != dtype_)
    return fail(Code::kInvalidArgument, "expected a source of ",
                to_string(dtype_), ", found ", to_string(source.dtype_));
  if (!std::ranges::equal(sizes(), source.sizes()))
    return fail(Code::kInvalidArgument, "expected a source of sizes ",
                to_text(sizes()), ", found ", to_text(source.sizes()));
  tensor::copy_elements(sizes(), element_size(dtype_),
                        static_cast<const std::byte*>(source.data_),
                        source.strides(), static_cast<std::byte*>(data_),
                        strides());
  return ok();
}

bool Tensor::is_contiguous() const noexcept {
  return tensor::is_contiguous(sizes(), strides());
}

std::size_t Tensor::size_bytes() const noexcept {
  return static_cast<std::size_t>(numel_) * element_size(dtype_);
}

bool Tensor::owns_memory() const noexcept {
  return storage_ != nullptr && storage_->owns_data();
}

std::size_t Tensor::share_count() const noexcept {
  return storage_ == nullptr ? 0 : storage_->share_count();
}

std::size_t Tensor::storage_size_bytes() const noexcept {
  return storage_ == nullptr ? 0 : storage_->size_bytes();
}

}  // namespace berth
