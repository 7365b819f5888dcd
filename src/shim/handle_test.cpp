#include "shim/handle.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "tensor/allocator.h"

namespace berth::shim {
namespace {

Tensor scalar() { return *Tensor::empty({}, DType::kFloat32); }

TEST(Handle, OwnsItsTensorUntilItIsUnwrapped) {
  const std::size_t before = live_handle_count();
  const Tensor tensor = scalar();
  AtenTensorHandle handle = wrap(Tensor(tensor));
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(live_handle_count(), before + 1);
  const auto borrowed = borrow(handle);
  ASSERT_TRUE(borrowed.has_value());
  EXPECT_EQ((*borrowed)->data(), tensor.data());
  EXPECT_EQ(live_handle_count(), before + 1);
  const Tensor back = unwrap(handle);
  EXPECT_EQ(back.data(), tensor.data());
  EXPECT_EQ(live_handle_count(), before);
}

TEST(Handle, NullIsNoTensor) {
  const auto borrowed = borrow(nullptr);
  ASSERT_FALSE(borrowed.has_value());
  EXPECT_EQ(borrowed.error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(unwrap(nullptr).shares_storage_with(scalar()));
  discard(nullptr);
}

TEST(Handle, GivePassesTheErrorOnAndWritesNothing) {
  AtenTensorHandle handle = nullptr;
  const Status status =
      give(Tensor::empty(std::vector<std::int64_t>{-1}, DType::kInt8), &handle);
  EXPECT_FALSE(status.has_value());
  EXPECT_EQ(handle, nullptr);
  ASSERT_TRUE(give(scalar(), &handle).has_value());
  discard(handle);
}

TEST(Handle, MayBeDiscardedOnAnotherThread) {
  const std::size_t before = live_handle_count();
  std::vector<AtenTensorHandle> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(wrap(scalar()));
  EXPECT_EQ(live_handle_count(), before + 100);
  std::thread([&] {
    for (AtenTensorHandle handle : handles) discard(handle);
  }).join();
  EXPECT_EQ(live_handle_count(), before);
}

TEST(Handle, MakingAndDiscardingAsksTheSystemForNothing) {
  discard(wrap(scalar()));
  const std::uint64_t before = tensor::system_allocation_count();
  for (int i = 0; i < 100; ++i) discard(wrap(scalar()));
  EXPECT_EQ(tensor::system_allocation_count(), before);
}

}  // namespace
}  // namespace berth::shim
