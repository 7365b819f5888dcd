#include "library/private_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ios>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "library/os.h"

namespace berth::library {
namespace {

constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kPermissions = 0777;

std::string directory_name() { return "berth-" + std::to_string(::geteuid()); }

// Without links and relative to nothing, so that what is checked is what is
// used.
Result<std::string> resolved(const std::string& parent) {
  std::error_code error;
  const auto path = std::filesystem::canonical(parent, error);
  if (error)
    return fail(Code::kSystem, "cannot make directory '", parent, "/",
                directory_name(), "': ", base::errno_text(error.value()));
  return path.string();
}

// Whoever can rename a directory above a file can put another file in its
// place between our check and the loader's look.
Status check_owner(const std::string& directory) {
  struct stat about {};
  if (os().lstat(directory.c_str(), &about) != 0)
    return fail(Code::kSystem, "cannot stat '", directory,
                "': ", base::errno_text(errno));
  if (about.st_uid != 0 && about.st_uid != ::geteuid())
    return fail(Code::kSystem, "'", directory, "' belongs to user ",
                about.st_uid, ", who could replace what is in it");
  if ((about.st_mode & S_IWOTH) != 0 && (about.st_mode & S_ISVTX) == 0)
    return fail(Code::kSystem, "'", directory,
                "' may be written to by everybody and is not sticky: anybody "
                "could replace what is in it");
  return ok();
}

// Of `path`, which is resolved, and all directories above it.
Status check_owners(const std::string& path) {
  BERTH_CHECK(check_owner("/"));
  for (std::size_t end = 1; end < path.size(); ++end) {
    end = std::min(path.find('/', end), path.size());
    BERTH_CHECK(check_owner(path.substr(0, end)));
  }
  return ok();
}

Status close_to_others(int fd, const std::string& path) {
  struct stat about {};
  if (os().fstat(fd, &about) != 0)
    return fail(Code::kSystem, "cannot stat '", path,
                "': ", base::errno_text(errno));
  if (about.st_uid != ::geteuid())
    return fail(Code::kSystem, "'", path, "' belongs to user ", about.st_uid,
                ", expected ", ::geteuid());
  // Whatever lies in it was only ever ours to write once nobody else can enter;
  // files are created exclusively, so what was planted before is not used.
  if ((about.st_mode & kPermissions) != kOwnerOnly &&
      os().fchmod(fd, kOwnerOnly) != 0)
    return fail(Code::kSystem, "'", path, "' has mode ", std::oct,
                about.st_mode & kPermissions, ", expected ", kOwnerOnly,
                std::dec, ", and cannot be changed: ", base::errno_text(errno));
  struct statvfs mount {};
  if (os().fstatvfs(fd, &mount) != 0)
    return fail(Code::kSystem, "cannot stat the mount of '", path,
                "': ", base::errno_text(errno));
  if ((mount.f_flag & ST_NOEXEC) != 0)
    return fail(
        Code::kSystem, "'", path,
        "' is on a mount with noexec, from which no code can be mapped");
  return ok();
}

base::Descriptor open_directory(const std::string& path) {
  return base::Descriptor(
      os().openat(AT_FDCWD, path.c_str(),
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
}

// The directories that were verified, by the parent that was asked for. Nobody
// else can replace one, so seeing the same one again is enough.
class Verified {
 public:
  static Verified& instance() {
    static auto* verified = new Verified;  // Used by static destructors too.
    return *verified;
  }

  struct Directory {
    std::string path;
    dev_t device;
    ino_t inode;

    // Whether `fd` is it, as it was when it was verified.
    bool is(int fd) const {
      struct stat about {};
      return os().fstat(fd, &about) == 0 && device == about.st_dev &&
             inode == about.st_ino && about.st_uid == ::geteuid() &&
             (about.st_mode & kPermissions) == kOwnerOnly;
    }
  };

  std::optional<Directory> find(const std::string& parent) {
    const std::lock_guard lock(mutex_);
    const auto found = directories_.find(parent);
    if (found == directories_.end()) return std::nullopt;
    return found->second;
  }

  void add(const std::string& parent, int fd, const std::string& path) {
    struct stat about {};
    // What a relative parent means may change.
    if (!parent.starts_with('/') || os().fstat(fd, &about) != 0) return;
    const std::lock_guard lock(mutex_);
    directories_[parent] = {path, about.st_dev, about.st_ino};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Directory> directories_;
};

}  // namespace

Result<PrivateDirectory> PrivateDirectory::open(const std::string& parent) {
  Verified& verified = Verified::instance();
  if (auto known = verified.find(parent)) {
    base::Descriptor directory = open_directory(known->path);
    if (directory && known->is(directory.get()))
      return PrivateDirectory(std::move(directory), std::move(known->path));
  }
  BERTH_TRY(PrivateDirectory directory, verify(parent));
  verified.add(parent, directory.fd(), directory.path());
  return directory;
}

Result<PrivateDirectory> PrivateDirectory::verify(const std::string& parent) {
  BERTH_TRY(std::string path, resolved(parent));
  BERTH_CHECK(check_owners(path));
  if (path != "/") path += '/';
  path += directory_name();
  if (os().mkdir(path.c_str(), kOwnerOnly) != 0 && errno != EEXIST)
    return fail(Code::kSystem, "cannot make directory '", path,
                "': ", base::errno_text(errno));
  base::Descriptor directory = open_directory(path);
  if (!directory) {
    // What open() reports for a symbolic link here differs among kernels.
    if (errno == ENOTDIR || errno == ELOOP)
      return fail(Code::kSystem, "'", path,
                  "' is a file or a symbolic link, expected a directory");
    return fail(Code::kSystem, "cannot open directory '", path,
                "': ", base::errno_text(errno));
  }
  BERTH_CHECK(close_to_others(directory.get(), path));
  return PrivateDirectory(std::move(directory), std::move(path));
}

}  // namespace berth::library
