// DLPack's C contract: an array in memory, and who takes it back. Includes
// nothing of the project.
//
// Names, layouts and values are the specification's, version 1.1. A program
// that includes DLPack's own header means the same types by these names; the
// two headers are never in one source file.
//
// Format: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

// Strides count elements; null means row-major, which 1.2 no longer allows.
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

// A deleter may be null. It frees the struct, too.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

// Of another major version, only what stands before `dl_tensor` can be relied
// upon.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

namespace berth::tensor::dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
// The one that brought the element types of 8 bits.
inline constexpr std::uint32_t kMinorVersion = 1;

inline constexpr std::int32_t kCpu = 1;
inline constexpr std::int32_t kCudaHost = 3;
inline constexpr std::int32_t kRocmHost = 11;

inline constexpr std::uint8_t kInt = 0;
inline constexpr std::uint8_t kUInt = 1;
inline constexpr std::uint8_t kFloat = 2;
inline constexpr std::uint8_t kBfloat = 4;
inline constexpr std::uint8_t kComplex = 5;
inline constexpr std::uint8_t kBool = 6;
inline constexpr std::uint8_t kFloat8E4M3FN = 10;
inline constexpr std::uint8_t kFloat8E4M3FNUZ = 11;
inline constexpr std::uint8_t kFloat8E5M2 = 12;
inline constexpr std::uint8_t kFloat8E5M2FNUZ = 13;

}  // namespace berth::tensor::dlpack
