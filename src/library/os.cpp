#include "library/os.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

namespace berth::library {
namespace {

// openat() and fcntl() are variadic, so their addresses do not fit the table.
int open_at(int directory, const char* path, int flags, mode_t mode) {
  return ::openat(directory, path, flags, mode);
}

int add_seals(int fd, int seals) { return ::fcntl(fd, F_ADD_SEALS, seals); }

}  // namespace

Os& os() noexcept {
  static Os table = {
      .mkdir = ::mkdir,
      .openat = open_at,
      .fstat = ::fstat,
      .lstat = ::lstat,
      .fstatvfs = ::fstatvfs,
      .fchmod = ::fchmod,
      .flock = ::flock,
      .memfd_create = ::memfd_create,
      .add_seals = add_seals,
      .write_all = base::write_all,
      .mmap = ::mmap,
      .unlink = ::unlink,
      .unlinkat = ::unlinkat,
      .dlopen = ::dlopen,
      .dlclose = ::dlclose,
      .dlinfo = ::dlinfo,
  };
  return table;
}

}  // namespace berth::library
