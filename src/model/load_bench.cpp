// What each step of loading a library costs, beside what anyone who has its
// bytes must do: write them to a file and dlopen() it.
//
//   load_bench <library> [rounds]
//
// Prints a JSON object of medians in microseconds. bench/load.py runs it.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "elf/edited_bytes.h"
#include "elf/identity.h"
#include "elf/identity_testing.h"
#include "elf/image.h"
#include "elf/policy.h"
#include "library/library.h"
#include "library/placed_image.h"
#include "library/promotion.h"
#include "model/aoti_abi.h"
#include "model/container.h"
#include "model/process_host.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

// The time since it was made, or since it was last asked.
class Lap {
 public:
  double us() {
    const auto now = Clock::now();
    const std::chrono::duration<double, std::micro> lap = now - last_;
    last_ = Clock::now();
    return lap.count();
  }

 private:
  Clock::time_point last_ = Clock::now();
};

// What a container binds.
constexpr std::array kFunctions = {model::abi::kCreateWithDevice,
                                   model::abi::kDelete,
                                   model::abi::kRun,
                                   model::abi::kGetNumInputs,
                                   model::abi::kGetNumOutputs,
                                   model::abi::kGetInputName,
                                   model::abi::kGetOutputName,
                                   model::abi::kGetNumConstants,
                                   model::abi::kGetConstantDataSize,
                                   model::abi::kGetConstantFromFolded,
                                   model::abi::kExtractConstantsMapEntries,
                                   model::abi::kUpdateConstantsFromBlob,
                                   model::abi::kGetLastError};

using Samples = std::map<std::string, std::vector<double>>;

Status bare(base::Bytes bytes, const std::string& path, Samples& samples) {
  Lap lap;
  base::Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  BERTH_CHECK(base::write_all(file.get(), {&bytes, 1}, path));
  file.reset();
  samples["bare_write"].push_back(lap.us());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  samples["bare_dlopen"].push_back(lap.us());
  if (handle == nullptr) return fail(Code::kSystem, ::dlerror());
  lap.us();
  ::dlclose(handle);
  ::unlink(path.c_str());
  samples["bare_close"].push_back(lap.us());
  return ok();
}

Status berths(base::Bytes bytes, const ModelOptions& options,
              const std::string& name, Samples& samples) {
  Lap lap;
  BERTH_TRY(const elf::Image image, elf::Image::parse(bytes));
  const model::ProcessHost host;
  const auto policy =
      elf::Policy::judge(image, host, model::Container::entry_points());
  BERTH_CHECK(policy.verdict());
  const double check = lap.us();
  const auto again = elf::Identity::plan(image);
  const double plan = lap.us();
  samples[name + "check"].push_back(check - plan);
  const elf::EditedBytes edits(bytes, policy.identity->edits);
  double identity = plan + lap.us();
  BERTH_TRY(auto placed, library::PlacedImage::place(edits.parts(), options));
  samples[name + "placement"].push_back(lap.us());
  {
    const auto written = placed.take_written();
    BERTH_TRY(const elf::Image after, elf::Image::parse(written.bytes()));
    BERTH_CHECK(elf::Identity::verify(image, after));
  }
  identity += lap.us();
  samples[name + "identity"].push_back(identity);
  BERTH_TRY(auto library, library::Library::map(std::move(placed)));
  samples[name + "mapping"].push_back(lap.us());
  for (const char* function : kFunctions)
    if (library.find_symbol<void()>(function) == nullptr)
      return fail(Code::kNotFound, function);
  samples[name + "binding"].push_back(lap.us());
  BERTH_CHECK(library.close());
  samples[name + "close"].push_back(lap.us());
  return ok();
}

Status measure(const std::string& path, int rounds, Samples& samples) {
  BERTH_TRY(const auto bytes, base::read_file(path));
  // As Berth would place them, so that the loader's work is the same.
  std::vector<std::byte> ready = bytes;
  BERTH_CHECK(elf::testing::apply(ready));
  BERTH_CHECK(library::promote_self());
  ModelOptions file;
  file.placement = Placement::kFile;
  ModelOptions memory;
  memory.placement = Placement::kMemory;
  for (int i = 0; i < rounds; ++i) {
    const std::string plain = "/tmp/berth_load_bench_" +
                              std::to_string(::getpid()) + "_" +
                              std::to_string(i) + ".so";
    BERTH_CHECK(bare(ready, plain, samples));
    BERTH_CHECK(berths(bytes, file, "file_", samples));
    BERTH_CHECK(berths(bytes, memory, "memory_", samples));
  }
  return ok();
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  berth::Samples samples;
  const auto status =
      berth::measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 200, samples);
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
    return 1;
  }
  const char* separator = "{";
  for (auto& [name, values] : samples) {
    std::ranges::sort(values);
    std::printf("%s\"%s\": %.1f", separator, name.c_str(),
                values[values.size() / 2]);
    separator = ", ";
  }
  std::printf("}\n");
  return 0;
}
