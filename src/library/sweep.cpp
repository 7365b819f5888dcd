#include "library/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "library/os.h"

namespace berth::library {
namespace {

// Drops a leading number from `text`; false when there is none.
bool skip_number(std::string_view& text) {
  const std::size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits != 0;
}

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool is_placed_name(std::string_view name, std::string_view prefix) {
  return skip(name, prefix) && skip(name, "_") && skip_number(name) &&
         skip(name, "_") && skip_number(name) && name == ".so";
}

bool remove_if_abandoned(int directory, const char* name) {
  // Without O_NONBLOCK a pipe of that name would hang the open. Writable,
  // because network file systems want that for an exclusive lock.
  base::Descriptor file(os().openat(
      directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  struct stat about {};
  if (!file || os().fstat(file.get(), &about) != 0) return false;
  if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return false;
  if (os().flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // The lock is held until after the name is gone: an owner that was just about
  // to take it finds it taken, or finds its file without a name.
  return os().unlinkat(directory, name, 0) == 0;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

std::size_t sweep(int directory, std::string_view prefix) {
  // A descriptor of its own, because reading moves its position.
  const int fd =
      os().openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  const std::unique_ptr<DIR, CloseDirectory> entries(::fdopendir(fd));
  if (!entries) {
    ::close(fd);
    return 0;
  }
  std::size_t removed = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (is_placed_name(entry->d_name, prefix) &&
        remove_if_abandoned(directory, entry->d_name))
      ++removed;
  }
  return removed;
}

}  // namespace berth::library
