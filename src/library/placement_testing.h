// Places a small image, and what goes wrong with it.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <array>
#include <string>

#include "library/library_testing.h"
#include "library/placed_file.h"

namespace berth::library::testing {

inline const std::array<std::byte, 5> kImage = {std::byte{'h'}, std::byte{'e'},
                                                std::byte{'l'}, std::byte{'l'},
                                                std::byte{'o'}};

inline Result<PlacedFile> place_in(const std::string& directory,
                                   base::Bytes image = kImage) {
  ModelOptions options;
  options.temp_directory = directory;
  return PlacedFile::place({&image, 1}, options);
}

inline std::string reason(const Result<PlacedFile>& placed) {
  return placed ? "placed " + placed->path() : placed.error().to_string();
}

inline mode_t mode_of(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

// Mounts a tmpfs of 64 KiB on `directory` where only this process sees it.
// False where that is not permitted.
inline bool mount_small(const std::string& directory, unsigned long flags) {
  if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) return false;
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", directory.c_str(), "tmpfs", flags, "size=64k") == 0;
}

// What a child returns when mount_small() said no.
inline constexpr int kNotPermitted = 77;

}  // namespace berth::library::testing
