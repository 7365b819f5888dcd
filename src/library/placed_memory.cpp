#include "library/placed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "library/os.h"

namespace berth::library {
namespace {

constexpr unsigned kMfdExec = 0x0010U;  // MFD_EXEC of Linux 6.3's headers.

// The kernel's path of descriptor `fd`, written as nobody has written it yet:
// the loader takes a path that it has seen for the library that it found there,
// and descriptor numbers come again. Each binary digit of `number`, least
// first, is "/" for 0 and "/." for 1, which lead nowhere.
std::string unique_path(int fd, std::uint64_t number) {
  std::string path = "/proc/self/fd";
  for (; number != 0; number /= 2) path += number % 2 == 0 ? "/" : "/.";
  return path + '/' + std::to_string(fd);
}

// Code may be mapped from it even where that is no longer the default. Kernels
// that do not know the flag map code from any.
int create(const std::string& name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = os().memfd_create(name.c_str(), kFlags | kMfdExec);
  if (fd >= 0 || errno != EINVAL) return fd;
  return os().memfd_create(name.c_str(), kFlags);
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
  base::Descriptor memory(create(name));
  if (!memory) return failed("create");
  BERTH_CHECK(os().write_all(memory.get(), image, name));
  // From here on the bytes that are checked are the bytes that run.
  if (os().add_seals(memory.get(), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE |
                                       F_SEAL_SEAL) != 0)
    return failed("seal");
  std::string path = unique_path(memory.get(), number);
  BERTH_TRY(WrittenImage written, WrittenImage::open(path, memory.get()));
  return PlacedMemory(std::move(memory), std::move(path), std::move(written));
}

}  // namespace berth::library
