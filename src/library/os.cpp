#include "library/os.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace berth::library {
namespace {

// openat() is variadic, so its address does not fit the table.
int open_at(int directory, const char* path, int flags, mode_t mode) {
  return ::openat(directory, path, flags, mode);
}

}  // namespace

Os& os() noexcept {
  static Os table = {
      .mkdir = ::mkdir,
      .openat = open_at,
      .fstat = ::fstat,
      .fstatvfs = ::fstatvfs,
      .fchmod = ::fchmod,
      .flock = ::flock,
      .fallocate = ::fallocate,
      .write_all = base::write_all,
      .unlink = ::unlink,
      .unlinkat = ::unlinkat,
      .dlopen = ::dlopen,
      .dlclose = ::dlclose,
      .dlinfo = ::dlinfo,
  };
  return table;
}

}  // namespace berth::library
