// What happens without Berth's edits, kept alive to show that the tests of
// isolation could fail. Each process that is to die is a child.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <latch>
#include <set>
#include <thread>

#include "elf/identity_testing.h"
#include "library/library_testing.h"
#include "model/aoti_abi.h"
#include "shim/handle.h"
#include "support/delegates.h"

namespace berth::testing {
namespace {

namespace abi = model::abi;

constexpr const char* kFlag = "inductor_cpu_integer_div_error_flag";
constexpr const char* kModel = "int_div_large";
constexpr int kRuns = 1000;
constexpr int kMostRounds = 60;

// The image of the division model's library.
std::vector<std::byte> division_image() {
  const auto bytes = read(model_path(kModel, "model.pte"));
  const auto program = executorch::Program::parse(bytes);
  const auto& key = program->methods()[0].delegates[0].library_key;
  const auto library = program->named_data().find(key)->second;
  return {library.begin(), library.end()};
}

// The image with every edit but one: what was unique in the process stays so.
std::vector<std::byte> sharing_unique_symbols(std::vector<std::byte> bytes) {
  std::set<std::uint32_t> unique;
  std::uint64_t table = 0;
  {
    const auto image = elf::Image::parse(bytes);
    table = image->symbols_offset();
    for (const elf::Symbol& symbol : image->symbols())
      if (symbol.binding == STB_GNU_UNIQUE) unique.insert(symbol.index);
  }
  EXPECT_GT(unique.size(), 0u) << "this compiler makes no unique symbols";
  EXPECT_TRUE(elf::testing::apply(bytes).has_value());
  for (const std::uint32_t index : unique) {
    const std::uint64_t at = table + index * sizeof(Elf64_Sym);
    auto symbol = *base::load<Elf64_Sym>(bytes, at);
    symbol.st_info =
        ELF64_ST_INFO(STB_GNU_UNIQUE, ELF64_ST_TYPE(symbol.st_info));
    EXPECT_TRUE(base::store(bytes, at, symbol));
  }
  return bytes;
}

std::vector<std::byte> sharing_nothing(std::vector<std::byte> bytes) {
  EXPECT_TRUE(elf::testing::apply(bytes).has_value());
  return bytes;
}

// A library that was opened as anyone would, with its container.
struct Opened {
  Opened(const std::vector<std::byte>& image, const std::string& path) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto create = reinterpret_cast<abi::CreateWithDevice*>(
        ::dlsym(library, abi::kCreateWithDevice));
    run = reinterpret_cast<abi::Run*>(::dlsym(library, abi::kRun));
    if (create(&container, 1, "cpu", nullptr) != abi::kSuccess)
      container = nullptr;
  }

  bool runs_with(const std::vector<Tensor>& inputs) const {
    std::vector<AtenTensorHandle> handles;
    for (const Tensor& input : inputs)
      handles.push_back(shim::wrap(Tensor(input)));
    AtenTensorHandle output = nullptr;
    const auto code = run(container, handles.data(), handles.size(), &output, 1,
                          nullptr, nullptr);
    shim::discard(output);
    return code == abi::kSuccess;
  }

  void* library = nullptr;
  abi::Run* run = nullptr;
  abi::ContainerHandle container = nullptr;
};

constexpr int kNotOpened = 1;
constexpr int kNotShared = 2;
constexpr int kWrong = 3;

// Two of `image`, in two threads, one of which divides by zero. Returns 0 when
// every error was caught and none was spurious.
int run_pair(const std::vector<std::byte>& image, const std::string& directory,
             bool is_shared) {
  const Opened failing(image, directory + "/failing.so");
  const Opened sound(image, directory + "/sound.so");
  if (failing.container == nullptr || sound.container == nullptr)
    return kNotOpened;
  const bool same_address =
      ::dlsym(failing.library, kFlag) == ::dlsym(sound.library, kFlag);
  if (same_address != is_shared) return kNotShared;
  const auto inputs = tensors(kModel, "in");
  const std::vector<Tensor> zeros = dividing_by_zero(kModel);
  const QuietStderr quiet;
  // Where the fault is, runs need only meet; a busy machine may take a while.
  for (int round = 0; round < (is_shared ? kMostRounds : 1); ++round) {
    std::atomic<int> caught = 0;
    std::atomic<int> spurious = 0;
    std::latch start(2);
    std::thread other([&] {
      start.arrive_and_wait();
      for (int i = 0; i < kRuns; ++i) caught += !failing.runs_with(zeros);
    });
    start.arrive_and_wait();
    for (int i = 0; i < kRuns; ++i) spurious += !sound.runs_with(inputs);
    other.join();
    if (caught != kRuns || spurious != 0) return kWrong;
  }
  return 0;
}

class UneditedPair : public ::testing::Test {
 protected:
  TempDirectory temp_;
};

// Fault: a symbol that the compiler marks unique is one a process, whatever the
// file, and this one points into the stack of the kernel that runs.
TEST_F(UneditedPair, SharesAUniqueSymbolAndEndsTheProcess) {
  const auto image = sharing_unique_symbols(division_image());
  const int end = library::testing::in_child([&] {
    // The library's terminate() need not be reported by a sanitizer, too.
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    return run_pair(image, temp_.path(), true);
  });
  EXPECT_NE(end, kNotOpened);
  EXPECT_NE(end, kNotShared) << "the loader's rule has changed";
  EXPECT_NE(end, 0) << "the fault that Berth is there for has gone";
}

// The control: the same harness, with the one edit that was left out.
TEST_F(UneditedPair, IsSoundWithTheOneEditMore) {
  const auto image = sharing_nothing(division_image());
  EXPECT_EQ(library::testing::in_child(
                [&] { return run_pair(image, temp_.path(), false); }),
            0);
}

}  // namespace
}  // namespace berth::testing
