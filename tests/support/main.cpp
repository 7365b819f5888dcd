// The main of every unit test. A test that leaves a tensor handle behind fails.
#include <gmock/gmock.h>

#include <cstdio>

#include "shim/handle.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const std::size_t left = berth::shim::live_handle_count();
  if (left == 0) return result;
  std::fprintf(stderr, "%zu tensor handles were never discarded\n", left);
  return 1;
}
