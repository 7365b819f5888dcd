// What goes wrong with delegates, and that it ends in an error and a clean
// state: keys, missing and spoiled data, values that do not fit, full disks.
#include <dlfcn.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "berth/executorch.h"
#include "elf/identity_testing.h"
#include "executorch/program.h"
#include "model/aoti_abi.h"
#include "support/models.h"
#include "support/named_data.h"

namespace berth::testing {
namespace {

using ::executorch::extension::make_tensor_ptr;
using ::executorch::extension::TensorPtr;
using ::testing::Contains;
using ::testing::HasSubstr;
using RuntimeError = runtime::Error;

class DelegateTest : public ::testing::Test {
 protected:
  DelegateTest() {
    bytes_ = read(model_path("mlp", "model.pte"));
    const auto program = executorch::Program::parse(bytes_);
    EXPECT_TRUE(program.has_value());
    const auto& delegate = program->methods()[0].delegates[0];
    const auto find = [&](const std::string& key) {
      const auto data = program->named_data().find(key)->second;
      return std::vector<std::byte>(data.begin(), data.end());
    };
    library_ = find(delegate.library_key);
    weights_ = find(delegate.weights_key);
    before_ = Footprint::now(temp_.path());
  }

  // Input, then output.
  void execute(Handle& handle) {
    const auto in = tensors("mlp", "in");
    const auto expected = tensors("mlp", "out");
    auto out = *Tensor::empty(expected[0].sizes(), DType::kFloat32);
    std::vector<TensorPtr> kept;
    std::vector<runtime::EValue> values;
    for (const Tensor& t : {in[0], out}) {
      kept.push_back(
          make_tensor_ptr({t.sizes().begin(), t.sizes().end()}, t.data()));
      values.emplace_back(*kept.back());
    }
    EXPECT_EQ(handle.execute(values), RuntimeError::Ok);
    EXPECT_TRUE(near(out, tensors("mlp", "out")[0]));
  }

  // Expects init to fail, and everything to be as it was.
  std::string refusal(const runtime::NamedDataMap* data,
                      const std::string& processed, RuntimeError expected,
                      const std::vector<runtime::CompileSpec>& specs = {},
                      const char* temp_directory = nullptr) {
    (void)executorch::take_last_error();
    {
      const auto handle =
          Handle::init(data, processed, "forward", specs, temp_directory);
      EXPECT_FALSE(handle.ok());
      EXPECT_EQ(handle.error(), expected) << runtime::to_string(handle.error());
    }
    EXPECT_EQ(Footprint::now(temp_.path()), before_);
    const auto error = executorch::take_last_error();
    return error ? error->to_string() : "";
  }

  TempDirectory temp_;
  std::vector<std::byte> bytes_, library_, weights_;
  Footprint before_;
};

TEST_F(DelegateTest, KeysOfAnyContentReachOnlyTheLookup) {
  const std::string keys[] = {"../../x",
                              "a/b",
                              "",
                              std::string(300, 'k'),
                              std::string("a\0b", 3),
                              "\xff\xfe",
                              "/etc/passwd",
                              "%s%n"};
  for (const std::string& key : keys) {
    FakeNamedData data;
    data.entries[key] = library_;
    data.entries[key + "w"] = weights_;
    {
      auto handle = Handle::init(&data, key + "\n" + key + "w");
      ASSERT_TRUE(handle.ok()) << key;
      execute(handle.get());
      EXPECT_THAT(data.asked, Contains(key));
      // One file, in Berth's own directory, whose name holds no key.
      EXPECT_EQ(Footprint::now(temp_.path()).files, before_.files + 1);
    }
    EXPECT_EQ(Footprint::now(temp_.path()), before_);
  }
}

TEST_F(DelegateTest, KeysOfOlderProgramsAreFound) {
  for (const std::string method : {"forward", "prefill"}) {
    FakeNamedData data;
    data.entries[method + "_so_blob"] = library_;
    data.entries[method + "_weights_blob"] = weights_;
    auto handle = Handle::init(&data, "", method.c_str());
    ASSERT_TRUE(handle.ok());
    execute(handle.get());
  }
  FakeNamedData data;
  data.entries["so_blob"] = library_;
  data.entries["weights_blob"] = weights_;
  auto handle = Handle::init(&data, "");
  ASSERT_TRUE(handle.ok());
  execute(handle.get());
}

TEST_F(DelegateTest, OneKeyServesManyDelegates) {
  FakeNamedData data;
  data.entries["l"] = library_;
  data.entries["w"] = weights_;
  auto first = Handle::init(&data, "l\nw");
  auto second = Handle::init(&data, "l\nw");
  ASSERT_TRUE(first.ok() && second.ok());
  execute(first.get());
  execute(second.get());
  { const Handle gone(std::move(first.get())); }
  execute(second.get());
}

TEST_F(DelegateTest, MissingDataIsNamed) {
  FakeNamedData data;
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::NotFound),
              HasSubstr("no library under key 'l'"));
  EXPECT_THAT(refusal(&data, "", RuntimeError::NotFound),
              HasSubstr("'forward_so_blob', 'so_blob'"));
  EXPECT_THAT(refusal(nullptr, "l\nw", RuntimeError::NotFound),
              HasSubstr("no named data"));
  data.entries["l"] = library_;
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::NotFound),
              HasSubstr("there are none of key 'w'"));
  EXPECT_THAT(refusal(&data, "one line", RuntimeError::InvalidProgram),
              HasSubstr("two lines"));
}

TEST_F(DelegateTest, WeightsOfTheWrongSizeAreNamed) {
  FakeNamedData data;
  data.entries["l"] = library_;
  auto& weights = data.entries["w"];
  weights = weights_;
  weights.pop_back();
  const std::string size = std::to_string(weights_.size());
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::InvalidArgument),
              HasSubstr("needs " + size));
  weights.resize(weights_.size() + 1);
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::InvalidArgument),
              HasSubstr("found " + std::to_string(weights_.size() + 1)));
  weights.clear();
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::NotFound),
              HasSubstr("none were given"));
}

TEST_F(DelegateTest, SpoiledLibrariesAreRefused) {
  FakeNamedData data;
  data.entries["w"] = weights_;
  auto& library = data.entries["l"];
  for (std::size_t i = 0; i < 64; ++i) {
    library.assign(
        library_.begin(),
        library_.begin() + static_cast<long>(library_.size() * i / 64));
    EXPECT_NE(refusal(&data, "l\nw", RuntimeError::InvalidProgram), "");
  }
  library = library_;
  library[4] = std::byte{1};
  EXPECT_THAT(
      refusal(&data, "l\nw", RuntimeError::DelegateInvalidCompatibility),
      HasSubstr("64-bit"));
}

TEST_F(DelegateTest, TheRecordedInstructionSetIsHeldAgainstTheCpu) {
  FakeNamedData data;
  data.entries["l"] = library_;
  data.entries["w"] = weights_;
  std::string isa = "AVX512 AVX512_VNNI AMX_TILE";
  const std::vector<runtime::CompileSpec> specs = {
      {"method_name", {isa.data(), 0}},
      {"instruction_set", {isa.data(), isa.size()}}};
  if (Handle::init(&data, "l\nw", "forward", specs).ok())
    GTEST_SKIP() << "this CPU runs AMX";
  EXPECT_THAT(
      refusal(&data, "l\nw", RuntimeError::DelegateInvalidCompatibility, specs),
      HasSubstr("AMX_TILE"));
}

TEST_F(DelegateTest, ValuesThatDoNotFitAreRefusedAndTheDelegateLivesOn) {
  FakeNamedData data;
  data.entries["l"] = library_;
  data.entries["w"] = weights_;
  auto handle = Handle::init(&data, "l\nw");
  ASSERT_TRUE(handle.ok());
  const auto expected = tensors("mlp", "out");
  const auto rows = static_cast<int>(expected[0].sizes()[0]);
  const auto columns = static_cast<int>(expected[0].sizes()[1]);
  std::vector<float> in(4096, 0.5f), out(4096, -1.0f);
  std::vector<std::int32_t> ints(4096);
  const auto fails = [&](std::vector<TensorPtr> tensors) {
    std::vector<runtime::EValue> values;
    for (const TensorPtr& tensor : tensors) values.emplace_back(*tensor);
    EXPECT_NE(handle->execute(values), RuntimeError::Ok);
    EXPECT_TRUE(std::ranges::all_of(out, [](float f) { return f == -1; }));
    return executorch::take_last_error().value().to_string();
  };
  const auto int_tensor = [&](int r, int c) {
    return make_tensor_ptr({r, c}, ints.data(), {}, {},
                           ::executorch::aten::ScalarType::Int);
  };
  const auto good_in = make_tensor_ptr({rows, 64}, in.data());
  const auto good_out = make_tensor_ptr({rows, columns}, out.data());
  EXPECT_THAT(fails({good_in}), HasSubstr("found 1 values"));
  EXPECT_THAT(fails({good_in, good_out, good_out}),
              HasSubstr("found 3 values"));
  EXPECT_NE(fails({make_tensor_ptr({rows, 63}, in.data()), good_out}), "");
  EXPECT_NE(fails({make_tensor_ptr({rows, 64, 1}, in.data()), good_out}), "");
  EXPECT_NE(fails({int_tensor(rows, 64), good_out}), "");
  EXPECT_THAT(
      fails({good_in, make_tensor_ptr({rows, columns - 1}, out.data())}),
      HasSubstr("no room"));
  EXPECT_THAT(fails({good_in, int_tensor(rows, columns)}), HasSubstr("int32"));
  execute(handle.get());
}

TEST_F(DelegateTest, ADirectoryThatCannotBeWrittenIsNamed) {
  FakeNamedData data;
  data.entries["l"] = library_;
  data.entries["w"] = weights_;
  const char* const nowhere = "/proc/self/no-such-place";
  ::setenv("BERTH_PLACEMENT", "file", 1);
  EXPECT_THAT(refusal(&data, "l\nw", RuntimeError::AccessFailed, {}, nowhere),
              HasSubstr(nowhere));
  ::unsetenv("BERTH_PLACEMENT");
  EXPECT_TRUE(Handle::init(&data, "l\nw").ok());
}

TEST_F(DelegateTest, AFullDiskIsAnErrorAndLeavesNoFile) {
  // In a child: a limit on the size of files stands in for the full disk.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {library_.size() / 2, library_.size() / 2};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    FakeNamedData data;
    data.entries["l"] = library_;
    data.entries["w"] = weights_;
    const std::string text = refusal(&data, "l\nw", RuntimeError::AccessFailed);
    const bool named =
        text.find(std::to_string(library_.size())) != std::string::npos &&
        text.find(temp_.path().string()) != std::string::npos;
    ::_exit(named && !HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Two delegates with one key, as the system once did it: the library's file is
// named after key and process, or, as the control, after a counter. Returns
// whether both delegates could be made and asked.
bool two_delegates_survive(std::vector<std::byte> image,
                           const std::filesystem::path& directory,
                           bool unique_names) {
  if (!elf::testing::apply(image)) return false;
  int counter = 0;
  const auto load = [&]() -> model::abi::ContainerHandle {
    std::string name = "key_" + std::to_string(::getpid());
    if (unique_names) name += "_" + std::to_string(counter++);
    const auto path = directory / (name + ".so");
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    const auto create = reinterpret_cast<model::abi::CreateWithDevice*>(
        ::dlsym(library, model::abi::kCreateWithDevice));
    model::abi::ContainerHandle container = nullptr;
    if (create == nullptr || create(&container, 1, "cpu", nullptr) != 0)
      return nullptr;
    return container;
  };
  return load() != nullptr && load() != nullptr;
}

TEST_F(DelegateTest, NamesMadeOfKeyAndProcessLetTheSecondBreakTheFirst) {
  const auto in_a_child = [&](bool unique_names) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(two_delegates_survive(library_, temp_.path(), unique_names) ? 0
                                                                          : 1);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  EXPECT_FALSE(in_a_child(false));
  EXPECT_TRUE(in_a_child(true));
}

}  // namespace
}  // namespace berth::testing
