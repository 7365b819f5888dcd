#include "library/loaded_object.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace berth::library {
namespace {

TEST(LoadedObject, IsFoundByItsSonameOrItsFilesName) {
  EXPECT_TRUE(is_loaded("libc.so.6"));
  EXPECT_TRUE(is_loaded("libstdc++.so.6"));
  EXPECT_FALSE(is_loaded("libnothere.so.1"));
  EXPECT_FALSE(is_loaded("libc.so"));
}

TEST(LoadedObject, DefinesTheVersionsThatTheLoaderFinds) {
  EXPECT_TRUE(defines_version("libc.so.6", "GLIBC_2.17"));
  EXPECT_TRUE(defines_version("libstdc++.so.6", "GLIBCXX_3.4.11"));
  EXPECT_TRUE(defines_version("libgcc_s.so.1", "GCC_3.0"));
  EXPECT_FALSE(defines_version("libc.so.6", "GLIBC_9.99"));
  EXPECT_FALSE(defines_version("libc.so.6", "GLIBCXX_3.4.11"));
  EXPECT_FALSE(defines_version("libnothere.so.1", "GLIBC_2.17"));
  EXPECT_NE(::dlvsym(RTLD_DEFAULT, "strlen", "GLIBC_2.2.5"), nullptr);
}

}  // namespace
}  // namespace berth::library
