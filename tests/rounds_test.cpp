// Loading, running and destroying, a thousand times: nothing grows.
#include <gmock/gmock.h>
#include <malloc.h>

#include <fstream>
#include <string>
#include <vector>

#include "berth/model.h"
#include "library/library_testing.h"
#include "support/delegates.h"

namespace berth::testing {
namespace {

// Sanitizers keep freed memory, and are too slow for a thousand rounds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr int kRounds = kSanitized ? 60 : 1000;

double resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6));
  return 0;
}

// KiB a round, by least squares over all but the first tenth, which warms up.
double slope(const std::vector<double>& samples) {
  const std::size_t first = samples.size() / 10;
  const auto n = static_cast<double>(samples.size() - first);
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = first; i < samples.size(); ++i) {
    const auto x = static_cast<double>(i);
    sum_x += x;
    sum_y += samples[i];
    sum_xx += x * x;
    sum_xy += x * samples[i];
  }
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

class Rounds : public ::testing::TestWithParam<Placement> {
 protected:
  TempDirectory temp_;
};

INSTANTIATE_TEST_SUITE_P(
    Placements, Rounds, ::testing::Values(Placement::kFile, Placement::kMemory),
    [](const auto& param_info) {
      return param_info.param == Placement::kFile ? "File" : "Memory";
    });

// Fault: memory, mappings, descriptors and files that grow with every load.
TEST_P(Rounds, OfThreeLibrariesLeaveNothing) {
  const char* const names[] = {"mlp", "int_div", "no_weights"};
  std::vector<std::vector<Tensor>> inputs;
  std::vector<std::vector<Tensor>> expected;
  for (const char* name : names) {
    inputs.push_back(tensors(name, "in"));
    expected.push_back(tensors(name, "out"));
  }
  ModelOptions options;
  options.placement = GetParam();
  options.file_prefix = "rounds";
  Footprint before;
  std::size_t heap_before = 0;
  std::vector<double> resident;
  resident.reserve(kRounds);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < std::size(names); ++i) {
      auto model = load_delegate(names[i], options);
      ASSERT_TRUE(model.has_value()) << model.error();
      {
        const auto outputs = model->run(inputs[i]);
        ASSERT_TRUE(outputs && all_near(*outputs, expected[i])) << names[i];
      }
      const Status closed = model->close();
      ASSERT_TRUE(closed) << closed.error();
    }
    if (round == kRounds / 10) {
      before = Footprint::now(temp_.path());
      heap_before = ::mallinfo2().uordblks;
    }
    resident.push_back(resident_kib());
  }
  EXPECT_EQ(Footprint::now(temp_.path()), before);
  EXPECT_EQ(before.mappings + before.files + before.pinned, 0u);
  EXPECT_EQ(library::testing::mapping_count("memfd:rounds_"), 0u);
  if (kSanitized) return;
  // CTest turns the threads' caches off, which count as in use. A leak of one
  // byte a load would be 2,700.
  const std::size_t heap = ::mallinfo2().uordblks;
  EXPECT_LT(heap, heap_before + 1024);
  EXPECT_LT(slope(resident), 1.0) << "KiB a round";
  RecordProperty("kib_a_round", std::to_string(slope(resident)));
  std::printf("resident memory: %.4f KiB a round, heap: %+td bytes\n",
              slope(resident), static_cast<std::ptrdiff_t>(heap - heap_before));
}

}  // namespace
}  // namespace berth::testing
