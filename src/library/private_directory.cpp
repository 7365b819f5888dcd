#include "library/private_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <ios>
#include <system_error>
#include <utility>

#include "library/os.h"

namespace berth::library {
namespace {

constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kPermissions = 0777;

Result<std::string> absolute(std::string_view parent) {
  std::error_code error;
  const auto path = std::filesystem::absolute(parent, error);
  if (error)
    return fail(Code::kSystem, "cannot make '", parent,
                "' absolute: ", base::errno_text(error.value()));
  return path.string();
}

Status verify(int fd, const std::string& path) {
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

}  // namespace

Result<PrivateDirectory> PrivateDirectory::open(std::string_view parent) {
  BERTH_TRY(std::string path, absolute(parent));
  while (!path.empty() && path.back() == '/') path.pop_back();
  path += "/berth-" + std::to_string(::geteuid());
  if (os().mkdir(path.c_str(), kOwnerOnly) != 0 && errno != EEXIST)
    return fail(Code::kSystem, "cannot make directory '", path,
                "': ", base::errno_text(errno));
  base::Descriptor directory(
      os().openat(AT_FDCWD, path.c_str(),
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
  if (!directory) {
    // What open() reports for a symbolic link here differs among kernels.
    if (errno == ENOTDIR || errno == ELOOP)
      return fail(Code::kSystem, "'", path,
                  "' is a file or a symbolic link, expected a directory");
    return fail(Code::kSystem, "cannot open directory '", path,
                "': ", base::errno_text(errno));
  }
  BERTH_CHECK(verify(directory.get(), path));
  return PrivateDirectory(std::move(directory), std::move(path));
}

}  // namespace berth::library
