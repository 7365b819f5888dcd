#include "shim/standard_error.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <ostream>
#include <thread>

namespace berth::shim {
namespace {

// As a delegate finds it.
std::ostream& stream() {
  return *static_cast<std::ostream*>(::dlsym(RTLD_DEFAULT, "berth_err"));
}

TEST(StandardError, IsKeptAndNotPrinted) {
  clear_printed();
  testing::internal::CaptureStderr();
  stream() << "Error: expected " << 3 << '\n' << std::flush;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(take_printed(), "Error: expected 3");
  EXPECT_EQ(take_printed(), "");
}

TEST(StandardError, IsEachThreadsOwn) {
  clear_printed();
  stream() << "mine";
  std::thread([] {
    stream() << "another's";
    EXPECT_EQ(take_printed(), "another's");
  }).join();
  EXPECT_EQ(take_printed(), "mine");
}

TEST(StandardError, KeepsOneKibibyte) {
  clear_printed();
  for (int i = 0; i < 3000; ++i) stream() << 'x';
  EXPECT_TRUE(stream().good());
  EXPECT_EQ(take_printed().size(), 1024u);
}

}  // namespace
}  // namespace berth::shim
