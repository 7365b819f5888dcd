// The operating system calls that this room makes, in one table, so that a test
// can make each of them fail.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <string>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::library {

// Entries have the meaning of the functions whose names they carry, and report
// failure as those do; write_all is base::write_all.
struct Os {
  int (*mkdir)(const char* path, mode_t mode);
  int (*openat)(int directory, const char* path, int flags, mode_t mode);
  int (*fstat)(int fd, struct stat* about);
  int (*fstatvfs)(int fd, struct statvfs* about);
  int (*fchmod)(int fd, mode_t mode);
  int (*flock)(int fd, int operation);
  int (*fallocate)(int fd, int mode, off_t offset, off_t size_bytes);
  Status (*write_all)(int fd, base::Bytes bytes, const std::string& path);
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
