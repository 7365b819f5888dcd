// The operating system calls by which a model comes and goes, in one table, so
// that a test can make each of them fail.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::library {

// Entries have the meaning of the functions whose names they carry, and report
// failure as those do; write_all is base::write_all, add_seals is fcntl() with
// F_ADD_SEALS.
struct Os {
  int (*mkdir)(const char* path, mode_t mode);
  int (*openat)(int directory, const char* path, int flags, mode_t mode);
  int (*fstat)(int fd, struct stat* about);
  int (*lstat)(const char* path, struct stat* about);
  int (*fstatvfs)(int fd, struct statvfs* about);
  int (*fchmod)(int fd, mode_t mode);
  int (*flock)(int fd, int operation);
  int (*memfd_create)(const char* name, unsigned flags);
  int (*add_seals)(int fd, int seals);
  Status (*write_all)(int fd, std::span<const base::Bytes> parts,
                      const std::string& path);
  void* (*mmap)(void* address, std::size_t size_bytes, int protection,
                int flags, int fd, off_t offset);
  int (*unlink)(const char* path);
  int (*unlinkat)(int directory, const char* path, int flags);
  void* (*dlopen)(const char* path, int flags);
  int (*dlclose)(void* handle);
  int (*dlinfo)(void* handle, int request, void* answer);
};

// The table in use: the real calls, unless a test has replaced some.
// Threads  only a test writes to it, before it starts threads.
Os& os() noexcept;

}  // namespace berth::library
