// Files and directories: the few operations Berth needs, each with an error
// that names the path and the errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::base {

// "No space left on device (errno 28)"
std::string errno_text(int error_number);

// An open file descriptor.
// Owns     the descriptor; closes it.
// Threads  a value with one owner.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

// Writes all bytes of the parts, in order, through short writes and EINTR.
// Fails with kSystem, naming `path`, the bytes wanted and the bytes written.
Status write_all(int fd, std::span<const Bytes> parts, const std::string& path);

// A value.
// Units    bytes, when it was opened.
struct OpenFile {
  Descriptor descriptor;
  std::uint64_t size = 0;
};

// A regular file, for reading. Fails with kNotFound when there is none,
// kInvalidArgument when it is something else, kSystem otherwise.
Result<OpenFile> open_regular(const std::string& path);

// The whole content of a regular file. Fails as open_regular() does.
Result<std::vector<std::byte>> read_file(const std::string& path);

}  // namespace berth::base
