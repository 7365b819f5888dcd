// What dlpack_abi.h says about DLPack is what DLPack's own header says. All of
// it happens when this file compiles.
#include "tensor/dlpack_abi.h"

#include <gtest/gtest.h>
// Included before the name space is open, so that it is not in it.
#include <stddef.h>
#include <stdint.h>

// Both define the same names.
namespace theirs {
#include <ATen/dlpack.h>
}  // namespace theirs

namespace berth::tensor {
namespace {

#define BERTH_SAME_SIZE(type)                          \
  static_assert(sizeof(type) == sizeof(theirs::type)); \
  static_assert(alignof(type) == alignof(theirs::type))
#define BERTH_SAME_PLACE(type, member)                                     \
  static_assert(offsetof(type, member) == offsetof(theirs::type, member)); \
  static_assert(sizeof(type::member) == sizeof(theirs::type::member))

BERTH_SAME_SIZE(DLPackVersion);
BERTH_SAME_PLACE(DLPackVersion, major);
BERTH_SAME_PLACE(DLPackVersion, minor);
BERTH_SAME_SIZE(DLDevice);
BERTH_SAME_PLACE(DLDevice, device_type);
BERTH_SAME_PLACE(DLDevice, device_id);
BERTH_SAME_SIZE(DLDataType);
BERTH_SAME_PLACE(DLDataType, code);
BERTH_SAME_PLACE(DLDataType, bits);
BERTH_SAME_PLACE(DLDataType, lanes);
BERTH_SAME_SIZE(DLTensor);
BERTH_SAME_PLACE(DLTensor, data);
BERTH_SAME_PLACE(DLTensor, device);
BERTH_SAME_PLACE(DLTensor, ndim);
BERTH_SAME_PLACE(DLTensor, dtype);
BERTH_SAME_PLACE(DLTensor, shape);
BERTH_SAME_PLACE(DLTensor, strides);
BERTH_SAME_PLACE(DLTensor, byte_offset);
BERTH_SAME_SIZE(DLManagedTensor);
BERTH_SAME_PLACE(DLManagedTensor, dl_tensor);
BERTH_SAME_PLACE(DLManagedTensor, manager_ctx);
BERTH_SAME_PLACE(DLManagedTensor, deleter);
BERTH_SAME_SIZE(DLManagedTensorVersioned);
BERTH_SAME_PLACE(DLManagedTensorVersioned, version);
BERTH_SAME_PLACE(DLManagedTensorVersioned, manager_ctx);
BERTH_SAME_PLACE(DLManagedTensorVersioned, deleter);
BERTH_SAME_PLACE(DLManagedTensorVersioned, flags);
BERTH_SAME_PLACE(DLManagedTensorVersioned, dl_tensor);

static_assert(dlpack::kMajorVersion == DLPACK_MAJOR_VERSION);
static_assert(dlpack::kMinorVersion <= DLPACK_MINOR_VERSION);
static_assert(dlpack::kCpu == theirs::kDLCPU);
static_assert(dlpack::kCudaHost == theirs::kDLCUDAHost);
static_assert(dlpack::kRocmHost == theirs::kDLROCMHost);
static_assert(dlpack::kInt == theirs::kDLInt);
static_assert(dlpack::kUInt == theirs::kDLUInt);
static_assert(dlpack::kFloat == theirs::kDLFloat);
static_assert(dlpack::kBfloat == theirs::kDLBfloat);
static_assert(dlpack::kComplex == theirs::kDLComplex);
static_assert(dlpack::kBool == theirs::kDLBool);
static_assert(dlpack::kFloat8E4M3FN == theirs::kDLFloat8_e4m3fn);
static_assert(dlpack::kFloat8E4M3FNUZ == theirs::kDLFloat8_e4m3fnuz);
static_assert(dlpack::kFloat8E5M2 == theirs::kDLFloat8_e5m2);
static_assert(dlpack::kFloat8E5M2FNUZ == theirs::kDLFloat8_e5m2fnuz);

TEST(DLPackAbi, IsDLPacksOwn) {}

}  // namespace
}  // namespace berth::tensor
