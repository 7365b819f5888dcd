#include "library/promotion.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "library/library_testing.h"

namespace berth::library {
namespace {

TEST(Promotion, HasNothingToDoInAnExecutable) {
  const testing::ScopedOs scope;
  os().dlopen = [](const char*, int) -> void* {
    ADD_FAILURE() << "an executable is in global scope already";
    return nullptr;
  };
  EXPECT_TRUE(promote_self());
  EXPECT_TRUE(promote_self());
}

TEST(Promotion, MakesTheNamesOfALocallyLoadedObjectVisible) {
  void* handle =
      ::dlopen(BERTH_FAKES_DIR "/library_promotable.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "promoted_answer"), nullptr);
  auto* promote = reinterpret_cast<bool (*)()>(::dlsym(handle, "promote"));
  ASSERT_NE(promote, nullptr);
  EXPECT_TRUE(promote());
  EXPECT_NE(::dlsym(RTLD_DEFAULT, "promoted_answer"), nullptr);
  EXPECT_TRUE(promote()) << "a second promotion has nothing to do";
}

}  // namespace
}  // namespace berth::library
