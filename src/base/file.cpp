#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace berth::base {

std::string errno_text(int error_number) {
  char buffer[128];
  // The GNU variant: returns the text, which need not be in `buffer`.
  const char* text = strerror_r(error_number, buffer, sizeof(buffer));
  return std::string(text) + " (errno " + std::to_string(error_number) + ")";
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { reset(); }

void Descriptor::reset() noexcept {
  // EINTR must not be retried on Linux: the descriptor is gone either way.
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Status write_all(int fd, std::span<const Bytes> parts,
                 const std::string& path) {
  std::vector<iovec> left;
  std::size_t wanted = 0;
  for (const Bytes part : parts) {
    wanted += part.size();
    // writev() only reads it.
    left.push_back({const_cast<std::byte*>(part.data()), part.size()});
  }
  std::size_t written = 0;
  for (std::size_t first = 0; written < wanted;) {
    const auto count = std::min<std::size_t>(left.size() - first, IOV_MAX);
    const ssize_t n = ::writev(fd, &left[first], static_cast<int>(count));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return fail(Code::kSystem, "writing '", path, "' stopped after ", written,
                  " of ", wanted,
                  " bytes: ", errno_text(n < 0 ? errno : ENOSPC));
    }
    written += static_cast<std::size_t>(n);
    auto done = static_cast<std::size_t>(n);
    for (; first < left.size() && done >= left[first].iov_len; ++first)
      done -= left[first].iov_len;
    if (first == left.size()) break;
    left[first].iov_base = static_cast<std::byte*>(left[first].iov_base) + done;
    left[first].iov_len -= done;
  }
  return ok();
}

Result<OpenFile> open_regular(const std::string& path) {
  OpenFile file;
  file.descriptor = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.descriptor) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kSystem;
    return fail(code, "cannot open '", path, "': ", errno_text(errno));
  }
  struct stat about {};
  if (::fstat(file.descriptor.get(), &about) != 0)
    return fail(Code::kSystem, "cannot stat '", path, "': ", errno_text(errno));
  if (!S_ISREG(about.st_mode))
    return fail(Code::kInvalidArgument, "'", path, "' is not a regular file");
  file.size = static_cast<std::uint64_t>(about.st_size);
  return file;
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  BERTH_TRY(const OpenFile file, open_regular(path));
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n = ::read(file.descriptor.get(), bytes.data() + filled,
                             bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(Code::kSystem, "reading '", path,
                  "' failed: ", errno_text(errno));
    if (n == 0) break;  // The file shrank; what is there is what is checked.
    filled += static_cast<std::size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace berth::base
