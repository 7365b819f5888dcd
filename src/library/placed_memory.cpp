#include "library/placed_memory.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "library/memory_file.h"
#include "library/os.h"

namespace berth::library {
namespace {

// The kernel's path of descriptor `fd`, written as nobody has written it yet:
// the loader takes a path that it has seen for the library that it found there,
// and descriptor numbers come again. Each binary digit of `number`, least
// first, is "/" for 0 and "/." for 1, which lead nowhere.
std::string unique_path(int fd, std::uint64_t number) {
  std::string path = "/proc/self/fd";
  for (; number != 0; number /= 2) path += number % 2 == 0 ? "/" : "/.";
  return path + '/' + std::to_string(fd);
}

}  // namespace

Result<PlacedMemory> PlacedMemory::place(std::span<const base::Bytes> image,
                                         const std::string& prefix) {
  static std::atomic<std::uint64_t> counter = 0;
  const std::uint64_t number = counter++;
  const std::string name = prefix + '_' + std::to_string(::getpid()) + '_' +
                           std::to_string(number) + ".so";
  const auto failed = [&name](const char* doing) {
    return fail(Code::kSystem, "cannot ", doing, " memory '", name,
                "': ", base::errno_text(errno));
  };
  base::Descriptor memory = create_memory_file(name, true);
  if (!memory) return failed("create");
  BERTH_CHECK(os().write_all(memory.get(), image, name));
  // From here on the bytes that are checked are the bytes that run.
  if (!seal_memory_file(memory.get())) return failed("seal");
  std::string path = unique_path(memory.get(), number);
  BERTH_TRY(WrittenImage written, WrittenImage::open(path, memory.get()));
  return PlacedMemory(std::move(memory), std::move(path), std::move(written));
}

}  // namespace berth::library
