#include "elf/renames.h"

#include <gmock/gmock.h>

namespace berth::elf {
namespace {

TEST(Renames, KeepTheLengthAndAreNotRenamedAgain) {
  const std::pair<const char*, const char*> kPairs[] = {
      {"aoti_torch_get_dim", "aoti_berth_get_dim"},
      {"Sleef_expf8_u10", "Berth_expf8_u10"},
      {"__cxa_thread_atexit", "berth_thread_atexit"},
      {"getenv", "berenv"},
      {"_ZSt4cerr", "berth_err"},
  };
  for (const auto& [from, to] : kPairs) {
    EXPECT_EQ(renamed(from), to);
    EXPECT_EQ(std::string_view(from).size(), std::string_view(to).size());
    EXPECT_EQ(renamed(to), std::nullopt);
  }
}

TEST(Renames, LeaveNamesThatOnlyLookAlike) {
  for (const char* name :
       {"", "malloc", "getenv_r", "secure_getenv", "__cxa_thread_atexit_impl",
        "my_aoti_torch_x", "aoti_torc", "sleef_expf8", "_ZSt4cout",
        "_ZSt5wcerr"})
    EXPECT_EQ(renamed(name), std::nullopt) << name;
}

TEST(Renames, KnowTorchsLibrariesFromThoseThatUseIt) {
  for (const char* name :
       {"libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libc10.so",
        "libc10_cuda.so", "libtorch.so.2.13", "/opt/torch/lib/libc10.so"})
    EXPECT_TRUE(is_torch_library(name)) << name;
  for (const char* name : {"", "libc.so.6", "libtorchvision.so", "libtorch",
                           "libc10x.so", "mylibtorch.so", "libtorch_notes"})
    EXPECT_FALSE(is_torch_library(name)) << name;
}

}  // namespace
}  // namespace berth::elf
