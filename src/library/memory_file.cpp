#include "library/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "library/os.h"

namespace berth::library {
namespace {

// Of Linux 6.3, where code may be mapped, or is never, whatever the system's
// default; some insist on being told. The C library's headers lack them.
constexpr unsigned kNoExecSeal = 0x0008U;
constexpr unsigned kExec = 0x0010U;

}  // namespace

base::Descriptor create_memory_file(const std::string& name, bool executable) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = os().memfd_create(name.c_str(),
                                   kFlags | (executable ? kExec : kNoExecSeal));
  if (fd >= 0 || errno != EINVAL) return base::Descriptor(fd);
  // Older kernels know neither and map code from any.
  return base::Descriptor(os().memfd_create(name.c_str(), kFlags));
}

bool seal_memory_file(int fd) {
  return os().add_seals(
             fd, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

}  // namespace berth::library
