// Every system call by which a model comes and goes is made to fail, one at a
// time and with all that follow.
#include <gmock/gmock.h>

#include <tuple>

#include "berth/model.h"
#include "berth/process.h"
#include "library/library_testing.h"
#include "support/delegates.h"

namespace berth::testing {
namespace {

using library::testing::FailingCall;

class LoadFaults
    : public ::testing::TestWithParam<
          std::tuple<Placement, std::size_t, FailingCall::Extent>> {
 protected:
  TempDirectory temp_;
};

INSTANTIATE_TEST_SUITE_P(
    Everywhere, LoadFaults,
    ::testing::Combine(::testing::Values(Placement::kAutomatic,
                                         Placement::kFile, Placement::kMemory),
                       ::testing::Values(1, 2),
                       ::testing::Values(FailingCall::kOnly,
                                         FailingCall::kAndLater)));

// Fault: what is left when initialisation fails half way.
TEST_P(LoadFaults, LeaveNothingAndTheNextLoadWorks) {
  const auto [placement, replicas, extent] = GetParam();
  ModelOptions options;
  options.placement = placement;
  options.replicas = replicas;
  options.file_prefix = "faults";
  const auto inputs = tensors("mlp", "in");
  const auto expected = tensors("mlp", "out");
  const auto works = [&] {
    auto model = load_delegate("mlp", options);
    if (!model) return ::testing::AssertionFailure() << model.error();
    const auto outputs = model->run(inputs);
    if (!outputs) return ::testing::AssertionFailure() << outputs.error();
    return all_near(*outputs, expected);
  };
  ASSERT_TRUE(works());
  const Footprint before = Footprint::now(temp_.path());
  int refused = 0;
  int n = 1;
  for (bool happened = true; happened; ++n) {
    {
      const FailingCall failing(n, extent);
      auto model = load_delegate("mlp", options);
      if (!model) {
        ++refused;
        EXPECT_EQ(model.error().code(), Code::kSystem) << model.error();
      } else {
        const auto outputs = model->run(inputs);
        EXPECT_TRUE(outputs && all_near(*outputs, expected)) << n;
        (void)model->close();
      }
      happened = FailingCall::happened();
    }
    EXPECT_EQ(Footprint::now(temp_.path()), before) << n;
    EXPECT_EQ(library::testing::mapping_count("memfd:faults_"), 0u) << n;
    EXPECT_TRUE(works()) << n;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(n, 10) << "the calls do not go through the table";
}

}  // namespace
}  // namespace berth::testing
