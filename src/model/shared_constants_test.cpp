#include "model/shared_constants.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <numeric>
#include <optional>

#include "shim/handle.h"

// There in sanitizer builds.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace berth::model {
namespace {

using ::testing::HasSubstr;

Tensor& given(const LentConstants& lent, std::size_t i) {
  return **shim::borrow(lent.entries()[i].handle);
}

float* floats(const Tensor& tensor) {
  return static_cast<float*>(tensor.data());
}

// As a library of torch 2.13 does with a handle that it is given.
abi::ConstantMapEntry held_of(const LentConstants& lent, std::size_t i) {
  return {"original", shim::wrap(Tensor(given(lent, i)))};
}

// A column-major matrix at an offset in its memory, and two small ones.
class SharedConstantsTest : public ::testing::Test {
 protected:
  SharedConstantsTest() {
    std::iota(memory_.begin(), memory_.end(), 0.0f);
    const std::int64_t all[] = {15};
    const std::int64_t sizes[] = {2, 3};
    const std::int64_t strides[] = {1, 4};
    const Tensor whole = *Tensor::borrow(memory_.data(), sizeof(memory_), all,
                                         {}, DType::kFloat32);
    const Tensor matrix = *whole.view(sizes, strides, 3);
    before_ = shim::live_handle_count();
    shared_ = *SharedConstants::copy_of(
        {{"a", matrix}, {"b", whole}, {"c", *Tensor::empty({}, DType::kBool)}});
  }

  std::array<float, 15> memory_{};
  std::optional<SharedConstants> shared_;
  std::size_t before_ = 0;
};

TEST_F(SharedConstantsTest, KeepNamesLayoutAndValuesOfWhatWasCopied) {
  memory_.fill(-1);
  const auto lent = shared_->lend();
  ASSERT_TRUE(lent.has_value()) << lent.error();
  shared_.reset();  // The mapping stays.
  ASSERT_EQ(lent->entries().size(), 3u);
  EXPECT_STREQ(lent->entries()[0].name, "a");
  EXPECT_STREQ(lent->entries()[2].name, "c");
  const Tensor& matrix = given(*lent, 0);
  EXPECT_THAT(matrix.sizes(), ::testing::ElementsAre(2, 3));
  EXPECT_THAT(matrix.strides(), ::testing::ElementsAre(1, 4));
  EXPECT_EQ(matrix.storage_offset(), 3);
  EXPECT_EQ(matrix.storage_size_bytes(), sizeof(memory_));
  EXPECT_EQ(floats(matrix)[0], 3);
  EXPECT_EQ(floats(matrix)[9], 12);
  EXPECT_EQ(floats(given(*lent, 1))[14], 14);
  for (std::size_t i = 0; i < 3; ++i) {
    // Else a run that returns it would hand out the state itself.
    EXPECT_FALSE(given(*lent, i).owns_memory());
    const Tensor start = *given(*lent, i).view({{0}}, {{1}}, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start.data()) % 64, 0u);
  }
}

TEST_F(SharedConstantsTest, WhatOneWritesTheOthersDoNotSee) {
  const auto first = shared_->lend();
  const auto second = shared_->lend();
  ASSERT_TRUE(first.has_value() && second.has_value());
  floats(given(*first, 1))[7] = 100;
  EXPECT_EQ(floats(given(*first, 1))[7], 100);
  EXPECT_EQ(floats(given(*second, 1))[7], 7);
  const auto third = shared_->lend();
  ASSERT_TRUE(third.has_value()) << third.error();
  EXPECT_EQ(floats(given(*third, 1))[7], 7);
}

TEST_F(SharedConstantsTest, HandlesThatALibraryLeavesBehindGoToo) {
  {
    auto lent = shared_->lend();
    ASSERT_TRUE(lent.has_value()) << lent.error();
    const std::array held = {held_of(*lent, 0), held_of(*lent, 1),
                             held_of(*lent, 2)};
    lent->note_held(held);
    // It freed one of the three.
    shim::discard(held[1].handle);
    EXPECT_EQ(shim::live_handle_count(), before_ + 5);
  }
  EXPECT_EQ(shim::live_handle_count(), before_);
}

TEST_F(SharedConstantsTest, ALibraryMayHoldOurHandlesOrOnlySome) {
  {
    auto lent = shared_->lend();
    ASSERT_TRUE(lent.has_value()) << lent.error();
    const std::array held = {lent->entries()[0], held_of(*lent, 2)};
    lent->note_held(held);
    const LentConstants moved(std::move(*lent));
    EXPECT_EQ(moved.entries().size(), 3u);
  }
  EXPECT_EQ(shim::live_handle_count(), before_);
}

TEST_F(SharedConstantsTest, ThereMayBeNoneOrEmptyOnes) {
  const auto none = SharedConstants::copy_of({});
  ASSERT_TRUE(none.has_value()) << none.error();
  EXPECT_TRUE(none->lend()->entries().empty());
  const Tensor empty = *Tensor::borrow(nullptr, 0, {{0}}, {}, DType::kFloat32);
  const auto shared = SharedConstants::copy_of({{"empty", empty}});
  ASSERT_TRUE(shared.has_value()) << shared.error();
  const auto lent = shared->lend();
  ASSERT_TRUE(lent.has_value()) << lent.error();
  EXPECT_EQ(given(*lent, 0).numel(), 0);
}

TEST_F(SharedConstantsTest, AProcessWithoutRoomForTheFileIsToldSo) {
  const Tensor tensor = *Tensor::empty({{100}}, DType::kFloat32);
  const auto under_limit = [&](auto resource) {
    rlimit old{};
    ::getrlimit(resource, &old);
    const rlimit none = {0, old.rlim_max};
    ::setrlimit(resource, &none);
    const auto shared = SharedConstants::copy_of({{"weight", tensor}});
    ::setrlimit(resource, &old);
    EXPECT_FALSE(shared.has_value());
    return shared ? std::string() : shared.error().to_string();
  };
  // The undefined-behavior sanitizer opens files to check types.
  if (__sanitizer_get_current_allocated_bytes == nullptr) {
    EXPECT_THAT(under_limit(RLIMIT_NOFILE), HasSubstr("cannot make"));
  }
  auto* const old = ::signal(SIGXFSZ, SIG_IGN);
  EXPECT_THAT(under_limit(RLIMIT_FSIZE),
              HasSubstr("sharing constant 'weight'"));
  ::signal(SIGXFSZ, old);
}

TEST_F(SharedConstantsTest, WhatCannotBeMappedIsAnError) {
  const auto no_file = LentConstants::on(-1, 100);
  ASSERT_FALSE(no_file.has_value());
  EXPECT_EQ(no_file.error().code(), Code::kSystem);
  EXPECT_THAT(no_file.error().to_string(), HasSubstr("map 100 bytes"));
  const base::Descriptor file(::memfd_create("test", MFD_CLOEXEC));
  const auto no_room = LentConstants::on(file.get(), std::size_t{1} << 60);
  ASSERT_FALSE(no_room.has_value());
  EXPECT_EQ(no_room.error().code(), Code::kOutOfMemory);
}

}  // namespace
}  // namespace berth::model
