// Replicas have one set of constants in memory, and state of their own.
#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "berth/model.h"
#include "model/process_host.h"
#include "model/replica.h"
#include "shim/handle.h"
#include "support/models.h"

// There in sanitizer builds, whose allocator mallinfo2() knows nothing of.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace berth::testing {
namespace {

using model::Replica;

std::size_t allocated_bytes() {
  if (__sanitizer_get_current_allocated_bytes != nullptr)
    return __sanitizer_get_current_allocated_bytes();
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::vector<std::byte> weights_of(const std::string& name) {
  return name.ends_with("_external") ? read(model_path(name, "weights.blob"))
                                     : std::vector<std::byte>();
}

// A replica whose constants others can have, and those.
struct Sharing {
  std::optional<Replica> first;
  std::optional<model::SharedConstants> constants;
  Result<Replica> another() const {
    return Replica::load_on(*constants, image, {}, host, {});
  }
  std::vector<std::byte> image;
  model::ProcessHost host;
};

void share(const std::string& name, Sharing& sharing) {
  sharing.image = read(model_path(name, "model.so"));
  const auto weights = weights_of(name);
  auto first = Replica::load(sharing.image, {model::Weights(weights), {}},
                             sharing.host, {});
  ASSERT_TRUE(first.has_value()) << first.error();
  auto constants = first->share_constants();
  ASSERT_TRUE(constants.has_value()) << constants.error();
  ASSERT_TRUE(constants->has_value());
  sharing.first.emplace(std::move(*first));
  sharing.constants.emplace(std::move(**constants));
}

// Bytes of memory that this process has to itself, by /proc: of pages that it
// maps several times, each once.
std::size_t occupied_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::size_t kilobytes = 0;
  for (std::string word; rollup >> word;) {
    std::size_t found = 0;
    if (word == "Pss_Anon:" || word == "Pss_Shmem:") rollup >> found;
    kilobytes += found;
  }
  return kilobytes * 1024;
}

Result<Model> load(const std::string& name, std::size_t replicas,
                   std::vector<std::byte> image = {}) {
  ModelOptions options;
  options.replicas = replicas;
  if (image.empty()) image = read(model_path(name, "model.so"));
  return Model::load(image, weights_of(name), options);
}

class SharedConstantsTest : public ::testing::Test {
 protected:
  Footprint footprint() const { return Footprint::now(temp_.path()); }
  TempDirectory temp_;
};

class EitherPlace : public SharedConstantsTest,
                    public ::testing::WithParamInterface<const char*> {};

TEST_P(EitherPlace, EveryReplicaRunsOnTheSharedConstants) {
  const std::string name = GetParam();
  const Footprint before = footprint();
  {
    Sharing sharing;
    share(name, sharing);
    ASSERT_FALSE(HasFatalFailure());
    auto second = sharing.another();
    auto third = sharing.another();
    ASSERT_TRUE(second.has_value() && third.has_value());
    sharing.constants.reset();
    // Whichever goes first, the others live on.
    for (Replica* replica : {&*sharing.first, &*second, &*third}) {
      for (Replica* left : {&*second, &*third}) {
        if (left == &*second && replica == &*third) continue;
        ASSERT_TRUE(left->run(tensors(name, "in")).has_value());
        EXPECT_TRUE(near(left->take_output(0), tensors(name, "out")[0], 1e-3));
      }
      EXPECT_TRUE(replica->close().has_value());
    }
  }
  EXPECT_EQ(footprint(), before);
}

TEST_P(EitherPlace, AnotherReplicaNeedsNoMemoryForThem) {
  const std::string name = GetParam();
  const auto inputs = tensors(name, "in");
  Sharing sharing;
  share(name, sharing);
  ASSERT_FALSE(HasFatalFailure());
  const auto load_and_run = [&](int count) {
    std::vector<Replica> replicas;
    for (int i = 0; i < count; ++i) {
      replicas.push_back(std::move(*sharing.another()));
      EXPECT_TRUE(replicas.back().run(inputs).has_value());
      (void)replicas.back().take_output(0);
    }
    return replicas;
  };
  // What the process keeps from the first one on is not counted.
  const auto first = load_and_run(1);
  const std::size_t allocated = allocated_bytes();
  const std::size_t occupied = occupied_bytes();
  const auto four = load_and_run(4);
  const auto allocated_each = (allocated_bytes() - allocated) / 4;
  const auto occupied_each = (occupied_bytes() - occupied) / 4;
  RecordProperty("allocated_each", std::to_string(allocated_each));
  RecordProperty("occupied_each", std::to_string(occupied_each));
  EXPECT_LT(allocated_each, 40'000u);
  // A sanitizer holds freed memory back, to find its use.
  if (__sanitizer_get_current_allocated_bytes == nullptr) {
    EXPECT_LT(occupied_each, 1'000'000u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EitherPlace,
                         ::testing::Values("mlp_lib", "mlp_lib_external",
                                           "wide_lib", "wide_lib_external"),
                         [](const auto& p) { return std::string(p.param); });

TEST_F(SharedConstantsTest, ConstantsThatTheLibraryComputesAreEachOnesOwn) {
  Sharing sharing;
  share("folded", sharing);
  ASSERT_FALSE(HasFatalFailure());
  auto second = sharing.another();
  ASSERT_TRUE(second.has_value()) << second.error();
  // They are computed in the first run, of either.
  for (Replica* replica : {&*second, &*sharing.first, &*second}) {
    ASSERT_TRUE(replica->run(tensors("folded", "in")).has_value());
    EXPECT_TRUE(near(replica->take_output(0), tensors("folded", "out")[0]));
  }
}

TEST_F(SharedConstantsTest, StateIsEachOnesOwn) {
  for (const std::string name : {"stateful", "state_returned"}) {
    const Footprint before = footprint();
    {
      Sharing sharing;
      share(name, sharing);
      ASSERT_FALSE(HasFatalFailure());
      auto second = sharing.another();
      ASSERT_TRUE(second.has_value()) << second.error();
      const auto step = [&](Replica& replica, const char* run) {
        ASSERT_TRUE(replica.run(tensors(name, "in")).has_value());
        const auto expected = tensors(name, "out", run);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const Tensor output = replica.take_output(i);
          EXPECT_TRUE(near(output, expected[i])) << "output " << i << run;
        }
      };
      step(*sharing.first, "");
      step(*sharing.first, "_run2");
      step(*second, "");
      step(*sharing.first, "_run3");
      step(*second, "_run2");
      step(*second, "_run3");
      // One that comes late begins at the beginning.
      auto third = sharing.another();
      ASSERT_TRUE(third.has_value()) << third.error();
      step(*third, "");
    }
    EXPECT_EQ(footprint(), before);
  }
}

TEST_F(SharedConstantsTest, StateThatIsHandedOutIsACopy) {
  auto model = load("state_returned", 2);
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("state_returned", "in");
  // One thread gets the same replica each time.
  std::vector<std::vector<Tensor>> found;
  for (int i = 0; i < 3; ++i) found.push_back(*model->run(inputs));
  EXPECT_TRUE(all_near(found[0], tensors("state_returned", "out")));
  EXPECT_TRUE(all_near(found[1], tensors("state_returned", "out", "_run2")));
  EXPECT_TRUE(all_near(found[2], tensors("state_returned", "out", "_run3")));
  EXPECT_TRUE(model->close().has_value());
  EXPECT_TRUE(all_near(found[0], tensors("state_returned", "out")));
}

TEST_F(SharedConstantsTest, ConstantsOfAnotherLibraryAreRefused) {
  const Footprint before = footprint();
  {
    Sharing sharing;
    share("folded", sharing);
    ASSERT_FALSE(HasFatalFailure());
    for (const std::string name : {"mlp_lib", "mlp_lib_external"}) {
      sharing.image = read(model_path(name, "model.so"));
      const auto replica = sharing.another();
      ASSERT_FALSE(replica.has_value());
      EXPECT_EQ(replica.error().code(), Code::kDelegate);
      EXPECT_THAT(replica.error().to_string(),
                  ::testing::HasSubstr("while sharing constants"));
    }
  }
  EXPECT_EQ(footprint(), before);
}

TEST_F(SharedConstantsTest, ALibraryThatCannotShareHasCopies) {
  auto image = read(model_path("mlp_lib", "model.so"));
  // No longer what Berth looks for, wherever the name is.
  const std::string_view name = "UserManagedConstantBufferPairs";
  for (auto at = image.begin();;) {
    at = std::search(
        at, image.end(), name.begin(), name.end(),
        [](std::byte b, char c) { return static_cast<char>(b) == c; });
    if (at == image.end()) break;
    *at = std::byte{'u'};
  }
  const model::ProcessHost host;
  auto first =
      Replica::load(image, {model::Weights(base::Bytes()), {}}, host, {});
  ASSERT_TRUE(first.has_value()) << first.error();
  const auto constants = first->share_constants();
  ASSERT_TRUE(constants.has_value()) << constants.error();
  EXPECT_FALSE(constants->has_value());
  auto model = load("mlp_lib", 2, image);
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto expected = tensors("mlp_lib", "out");
  std::atomic<int> wrong = 0;
  const auto run = [&] {
    for (int i = 0; i < 200; ++i) {
      const auto outputs = model->run(tensors("mlp_lib", "in"));
      wrong += !outputs || !all_near(*outputs, expected);
    }
  };
  std::thread other(run);
  run();
  other.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace berth::testing
