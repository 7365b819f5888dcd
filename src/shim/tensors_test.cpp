// The shim's tensor functions, called as a delegate calls them.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "shim/functions.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

// A handle that is deleted as a delegate deletes it.
class Owned {
 public:
  Owned() = default;
  ~Owned() { reset(); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator AtenTensorHandle() const { return handle_; }  // NOLINT: as torch's
  AtenTensorHandle* out() {
    reset();
    return &handle_;
  }
  void reset() {
    EXPECT_EQ(aoti_berth_delete_tensor_object(handle_), 0);
    handle_ = nullptr;
  }
  float* floats() const {
    void* data = nullptr;
    EXPECT_EQ(aoti_berth_get_data_ptr(handle_, &data), 0);
    return static_cast<float*>(data);
  }
  Numbers strides() const {
    std::int64_t* strides = nullptr;
    std::int64_t dim = 0;
    EXPECT_EQ(aoti_berth_get_dim(handle_, &dim), 0);
    EXPECT_EQ(aoti_berth_get_strides(handle_, &strides), 0);
    return {strides, strides + dim};
  }

 private:
  AtenTensorHandle handle_ = nullptr;
};

std::int32_t empty(const Numbers& sizes, const Numbers& strides, Owned& out) {
  return aoti_berth_empty_strided(
      static_cast<std::int64_t>(sizes.size()), sizes.data(), strides.data(),
      aoti_berth_dtype_float32(), aoti_berth_device_type_cpu(), 0, out.out());
}

std::int32_t view(const Owned& base, const Numbers& sizes,
                  const Numbers& strides, std::int64_t offset, Owned& out) {
  return aoti_berth__reinterpret_tensor(
      base, static_cast<std::int64_t>(sizes.size()), sizes.data(),
      strides.data(), offset, out.out());
}

// 0, 1, 2, ... over the whole storage.
void count_up(const Owned& tensor) {
  std::int64_t bytes = 0;
  ASSERT_EQ(aoti_berth_get_storage_size(tensor, &bytes), 0);
  std::iota(tensor.floats(), tensor.floats() + bytes / 4, 0.0f);
}

TEST(Tensors, SayWhatTheyAre) {
  Owned tensor;
  ASSERT_EQ(empty({4, 3}, {5, 1}, tensor), 0);
  Owned part;
  ASSERT_EQ(view(tensor, {2, 3}, {5, 1}, 6, part), 0);
  std::int64_t value = 0;
  EXPECT_EQ(aoti_berth_get_dim(part, &value), 0);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(aoti_berth_get_numel(part, &value), 0);
  EXPECT_EQ(value, 6);
  EXPECT_EQ(aoti_berth_get_storage_size(part, &value), 0);
  EXPECT_EQ(value, 18 * 4);
  EXPECT_EQ(aoti_berth_get_storage_numel(part, &value), 0);
  EXPECT_EQ(value, 18);
  EXPECT_EQ(aoti_berth_get_storage_offset(part, &value), 0);
  EXPECT_EQ(value, 6);
  EXPECT_EQ(aoti_berth_get_size(part, 1, &value), 0);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(aoti_berth_get_size(part, -2, &value), 0);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(aoti_berth_get_stride(part, 0, &value), 0);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(aoti_berth_get_stride(part, 2, &value), 1);
  EXPECT_THAT(take_reason(), HasSubstr("dimension 2 of a tensor that has 2"));
  EXPECT_EQ(aoti_berth_get_size(part, -3, &value), 1);
  std::int64_t* sizes = nullptr;
  EXPECT_EQ(aoti_berth_get_sizes(part, &sizes), 0);
  EXPECT_THAT(std::span(sizes, 2), ElementsAre(2, 3));
  EXPECT_THAT(part.strides(), ElementsAre(5, 1));
  std::int32_t code = 0;
  EXPECT_EQ(aoti_berth_get_dtype(part, &code), 0);
  EXPECT_EQ(code, aoti_berth_dtype_float32());
  EXPECT_EQ(aoti_berth_get_device_type(part, &code), 0);
  EXPECT_EQ(code, aoti_berth_device_type_cpu());
  EXPECT_EQ(aoti_berth_get_device_index(part, &code), 0);
  EXPECT_EQ(code, -1);
  EXPECT_EQ(aoti_berth_get_layout(part, &code), 0);
  EXPECT_EQ(code, aoti_berth_layout_strided());
  bool yes = true;
  EXPECT_EQ(aoti_berth_is_contiguous(part, &yes), 0);
  EXPECT_FALSE(yes);
  EXPECT_EQ(aoti_berth_dtype_element_size(aoti_berth_dtype_float64()), 8u);
  EXPECT_EQ(aoti_berth_dtype_element_size(99), 0u);
}

TEST(Tensors, ANullHandleIsAnErrorWithAReason) {
  std::int64_t value = 0;
  clear_reason();
  EXPECT_EQ(aoti_berth_get_dim(nullptr, &value), 1);
  EXPECT_THAT(take_reason(), HasSubstr("aoti_berth_get_dim: InvalidArgument: "
                                       "tensor handle is null"));
  Owned out;
  EXPECT_EQ(aoti_berth_clone(nullptr, out.out()), 1);
  EXPECT_EQ(aoti_berth_zero_(nullptr), 1);
  EXPECT_EQ(aoti_berth_delete_tensor_object(nullptr), 0);
}

TEST(Tensors, ViewsShareTheirStorage) {
  Owned base;
  ASSERT_EQ(empty({4, 8}, {8, 1}, base), 0);
  count_up(base);
  Owned columns;
  ASSERT_EQ(view(base, {4, 4}, {8, 1}, 2, columns), 0);
  columns.floats()[8] = -1;
  EXPECT_EQ(base.floats()[10], -1);
  Owned nested;
  ASSERT_EQ(view(columns, {}, {}, 31, nested), 0);
  EXPECT_EQ(*nested.floats(), 31);
  base.reset();
  columns.reset();
  EXPECT_EQ(*nested.floats(), 31);
}

TEST(Tensors, AViewOneElementPastTheStorageIsRefused) {
  Owned base;
  ASSERT_EQ(empty({4, 8}, {8, 1}, base), 0);
  Owned past;
  EXPECT_EQ(view(base, {4, 8}, {8, 1}, 1, past), 1);
  EXPECT_THAT(take_reason(), HasSubstr("need 132 bytes, storage has 128"));
  EXPECT_EQ(view(base, {0}, {1}, 32, past), 0);
}

TEST(Tensors, UnknownDtypesDevicesAndLayoutsAreErrors) {
  Owned out;
  const std::int64_t one = 1;
  EXPECT_EQ(aoti_berth_empty_strided(1, &one, &one, 99, 0, 0, out.out()), 1);
  EXPECT_THAT(take_reason(), HasSubstr("dtype code 99"));
  EXPECT_EQ(aoti_berth_empty_strided(1, &one, &one, 6, 1, 0, out.out()), 1);
  EXPECT_THAT(take_reason(), HasSubstr("device type 1"));
  float value = 0;
  EXPECT_EQ(aoti_berth_create_tensor_from_blob(&value, 1, &one, &one, 0, 99, 0,
                                               0, out.out()),
            1);
  EXPECT_THAT(take_reason(), HasSubstr("dtype code 99"));
  EXPECT_EQ(aoti_berth_create_tensor_from_blob_v2(
                &value, 1, &one, &one, 0, 6, 0, 0, out.out(),
                aoti_berth_layout__mkldnn(), nullptr, 0),
            1);
  EXPECT_THAT(take_reason(), HasSubstr("freezing"));
  EXPECT_EQ(aoti_berth_empty_strided(-1, &one, &one, 6, 0, 0, out.out()), 1);
  EXPECT_EQ(aoti_berth_empty_strided(2, nullptr, &one, 6, 0, 0, out.out()), 1);
}

TEST(Tensors, ABlobIsBorrowedAtItsOffset) {
  std::array<float, 8> memory = {0, 1, 2, 3, 4, 5, 6, 7};
  const Numbers sizes = {2, 2};
  const Numbers strides = {1, 2};
  Owned tensor;
  ASSERT_EQ(aoti_berth_create_tensor_from_blob_v2(
                memory.data(), 2, sizes.data(), strides.data(), 3, 6, 0, 0,
                tensor.out(), aoti_berth_layout_strided(), nullptr, 0),
            0);
  EXPECT_EQ(tensor.floats(), memory.data() + 3);
  std::int64_t bytes = 0;
  EXPECT_EQ(aoti_berth_get_storage_size(tensor, &bytes), 0);
  EXPECT_EQ(bytes, 7 * 4);
  // A constant without elements has no memory.
  const Numbers none = {0};
  ASSERT_EQ(
      aoti_berth_create_tensor_from_blob(
          nullptr, 1, none.data(), strides.data(), 0, 6, 0, 0, tensor.out()),
      0);
  EXPECT_EQ(
      aoti_berth_create_tensor_from_blob(
          nullptr, 2, sizes.data(), strides.data(), 0, 6, 0, 0, tensor.out()),
      1);
  EXPECT_THAT(take_reason(), HasSubstr("null data"));
}

TEST(Tensors, CloneKeepsTheOrderOfDimensionsAndDropsGaps) {
  Owned base;
  ASSERT_EQ(empty({2, 3, 4}, {24, 1, 6}, base), 0);  // With gaps.
  count_up(base);
  Owned copy;
  ASSERT_EQ(aoti_berth_clone(base, copy.out()), 0);
  EXPECT_THAT(copy.strides(), ElementsAre(12, 1, 3));
  EXPECT_EQ(copy.floats()[12 + 2 + 3 * 3], base.floats()[24 + 2 + 6 * 3]);
  Owned same;
  ASSERT_EQ(aoti_berth_clone_preserve_strides(base, same.out()), 0);
  EXPECT_THAT(same.strides(), ElementsAre(24, 1, 6));
  EXPECT_EQ(same.floats()[24 + 2 + 18], base.floats()[24 + 2 + 18]);
  same.floats()[0] = -1;
  EXPECT_EQ(base.floats()[0], 0);
  // A view in the middle keeps its place.
  Owned part;
  ASSERT_EQ(view(base, {2}, {6}, 4, part), 0);
  ASSERT_EQ(aoti_berth_clone_preserve_strides(part, same.out()), 0);
  std::int64_t offset = 0;
  EXPECT_EQ(aoti_berth_get_storage_offset(same, &offset), 0);
  EXPECT_EQ(offset, 4);
  EXPECT_EQ(same.floats()[6], 10);
}

TEST(Tensors, CopyExpandsTheSource) {
  Owned target;
  Owned row;
  ASSERT_EQ(empty({2, 3}, {3, 1}, target), 0);
  ASSERT_EQ(empty({3}, {1}, row), 0);
  count_up(row);
  ASSERT_EQ(aoti_berth_copy_(target, row, 0), 0);
  EXPECT_THAT(std::span(target.floats(), 6), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(aoti_berth_copy_(target, target, 0), 0);
  ASSERT_EQ(aoti_berth_zero_(target), 0);
  EXPECT_THAT(std::span(target.floats(), 6), testing::Each(0));
  ASSERT_EQ(aoti_berth_tensor_copy_(row, target), 0);
  EXPECT_EQ(target.floats()[5], 2);
  EXPECT_EQ(aoti_berth_copy_(row, target, 0), 1);
  EXPECT_THAT(take_reason(), HasSubstr("cannot be expanded to [3]"));
  Owned integer;
  ASSERT_EQ(aoti_berth_scalar_to_tensor_int32(7, integer.out()), 0);
  EXPECT_EQ(aoti_berth_copy_(target, integer, 0), 1);
  EXPECT_THAT(take_reason(), HasSubstr("float32, found int32"));
}

TEST(Tensors, HandlesOfOneTensorAreIndependent) {
  Owned first;
  ASSERT_EQ(empty({2}, {1}, first), 0);
  count_up(first);
  Owned second;
  ASSERT_EQ(aoti_berth_new_tensor_handle(first, second.out()), 0);
  Owned third;
  ASSERT_EQ(aoti_berth_assign_tensors_out(first, third.out()), 0);
  first.reset();
  second.floats()[1] = 9;
  EXPECT_EQ(third.floats()[1], 9);

  Owned undefined;
  ASSERT_EQ(aoti_berth_new_uninitialized_tensor(undefined.out()), 0);
  bool defined = true;
  EXPECT_EQ(aoti_berth_is_defined(undefined, &defined), 0);
  EXPECT_FALSE(defined);
  ASSERT_EQ(aoti_berth_assign_tensors(third, undefined), 0);
  EXPECT_EQ(aoti_berth_is_defined(undefined, &defined), 0);
  EXPECT_TRUE(defined);
  EXPECT_EQ(undefined.floats(), third.floats());
}

TEST(Tensors, AsStridedAndPinnedMemory) {
  Owned base;
  const Numbers sizes = {2, 3};
  const Numbers strides = {3, 1};
  ASSERT_EQ(aoti_berth_empty_strided_pinned(2, sizes.data(), strides.data(), 6,
                                            0, 0, base.out()),
            0);
  count_up(base);
  const Numbers turned = {3, 2};
  const Numbers steps = {1, 3};
  Owned out;
  ASSERT_EQ(aoti_berth_as_strided(base, turned.data(), steps.data(), out.out()),
            0);
  EXPECT_EQ(out.floats()[1 * 3 + 2], 5);
  EXPECT_THAT(out.strides(), ElementsAre(1, 3));
}

TEST(Tensors, WarningsAreDropped) {
  aoti_berth_warn("f", "m.cpp", 1, "something");
  EXPECT_EQ(take_reason(), "");
}

}  // namespace
}  // namespace berth::shim
