// A strided view of typed memory that shares its storage with other tensors.
//
// It computes nothing: operators are the compiled model's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/dtype.h"
#include "berth/export.h"
#include "berth/result.h"

// DLPack's, whose own header a program brings along when it uses these.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace berth {

namespace tensor {
class Storage;
class Hollow;
}  // namespace tensor

// Owns     a share of its storage. The storage either owns its memory (empty,
//          empty_strided), aligned to 64 bytes, or borrows the caller's
//          (borrow), who keeps it alive until the last tensor on it is gone, or
//          another library's (from_dlpack), which is then told.
// Threads  a value. Two tensors on one storage may be read from two threads;
//          whoever writes must be alone.
// Units    sizes, strides and the storage offset count elements; names that end
//          in _bytes count bytes.
// Fails    kInvalidArgument for negative sizes, unknown dtypes and views that
//          leave their storage; kOutOfMemory.
class BERTH_API Tensor {
 public:
  // A tensor with no storage: dim() 1, numel() 0, data() null.
  Tensor() noexcept;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  // New, uninitialized, row-major memory.
  static Result<Tensor> empty(std::span<const std::int64_t> sizes, DType dtype);

  // New, uninitialized memory that `sizes` and `strides` exactly need.
  static Result<Tensor> empty_strided(std::span<const std::int64_t> sizes,
                                      std::span<const std::int64_t> strides,
                                      DType dtype);

  // A tensor on `size_bytes` bytes of the caller's memory. Empty `strides` mean
  // row-major. `data` may be null only when there are no elements.
  static Result<Tensor> borrow(void* data, std::size_t size_bytes,
                               std::span<const std::int64_t> sizes,
                               std::span<const std::int64_t> strides,
                               DType dtype);

  // Takes over an array of another library that speaks DLPack, without a copy.
  // Its deleter is called when the last tensor on it is gone, on that tensor's
  // thread; a failure leaves the array to the caller. kUnsupported for memory
  // that is not the CPU's and for element types that DType lacks, kIncompatible
  // for a major version other than 1, kInvalidArgument for strides below zero
  // and the like. A read-only array is not protected from a model that writes
  // to its inputs.
  //
  // https://dmlc.github.io/dlpack/latest/c_api.html
  static Result<Tensor> from_dlpack(DLManagedTensorVersioned* array);
  static Result<Tensor> from_dlpack(DLManagedTensor* array);

  // A new array that shares this tensor's memory, whatever becomes of the
  // tensor. Whoever gets it calls its deleter, once, on any thread. Fails with
  // kOutOfMemory only.
  Result<DLManagedTensorVersioned*> to_dlpack() const;
  Result<DLManagedTensor*> to_dlpack_unversioned() const;

  // Another view of the same storage. `storage_offset` counts from the start of
  // the storage, not from this view.
  Result<Tensor> view(std::span<const std::int64_t> sizes,
                      std::span<const std::int64_t> strides,
                      std::int64_t storage_offset) const;

  // A row-major copy in memory of its own.
  Result<Tensor> clone() const;

  // Copies the elements of `source`, which must have the same dtype and sizes.
  // The two may have different strides, and must not overlap.
  Status copy_from(const Tensor& source);

  DType dtype() const noexcept { return dtype_; }
  std::int64_t dim() const noexcept { return dim_; }
  std::int64_t numel() const noexcept { return numel_; }
  std::int64_t storage_offset() const noexcept { return offset_; }
  std::span<const std::int64_t> sizes() const noexcept;
  std::span<const std::int64_t> strides() const noexcept;
  bool is_contiguous() const noexcept;

  // The first element, or null when there are no elements and no storage.
  void* data() const noexcept { return data_; }

  // Bytes of all elements, without gaps between them.
  std::size_t size_bytes() const noexcept;

  // Bytes of the whole storage.
  std::size_t storage_size_bytes() const noexcept;

  // False for a default-constructed tensor.
  bool has_storage() const noexcept { return storage_ != nullptr; }

  // True when the elements are in memory of Berth's, false when they are in
  // somebody else's or nowhere.
  bool owns_memory() const noexcept;

  // How many tensors share the storage, this one included; 0 without one. Out
  // of date at once where other threads make or destroy them.
  std::size_t share_count() const noexcept;

  // True when both are views of one storage.
  bool shares_storage_with(const Tensor& other) const noexcept {
    return storage_ != nullptr && storage_ == other.storage_;
  }

 private:
  friend class tensor::Hollow;

  // Sizes and strides of up to this many dimensions need no allocation.
  static constexpr std::int64_t kInlineDims = 6;

  static Result<Tensor> make(tensor::Storage* storage, std::int64_t numel,
                             std::span<const std::int64_t> sizes,
                             std::span<const std::int64_t> strides,
                             std::int64_t offset, DType dtype);
  void share_extents(const Tensor& other) noexcept;
  const std::int64_t* extents() const noexcept;

  tensor::Storage* storage_ = nullptr;  // Shared.
  void* data_ = nullptr;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  std::int64_t dim_ = 1;
  DType dtype_ = DType::kFloat32;
  // `dim_` sizes, then `dim_` strides; beyond kInlineDims, shared by copies.
  union {
    std::int64_t inline_extents_[2 * kInlineDims];
    tensor::Storage* shared_extents_;
  };
};

}  // namespace berth
