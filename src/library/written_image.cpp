#include "library/written_image.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "library/os.h"

namespace berth::library {

Result<WrittenImage> WrittenImage::open(const std::string& path, int fd) {
  const auto failed = [&path](const char* doing) {
    return fail(Code::kSystem, "cannot ", doing, " '", path,
                "': ", base::errno_text(errno));
  };
  const base::Descriptor found(
      os().openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0));
  if (!found) return failed("open");
  struct stat ours {};
  struct stat theirs {};
  if (os().fstat(fd, &ours) != 0 || os().fstat(found.get(), &theirs) != 0)
    return failed("stat");
  if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
    return fail(Code::kSystem, "somebody replaced '", path,
                "' after it was written");
  const auto size = static_cast<std::size_t>(ours.st_size);
  void* address = os().mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
                            found.get(), 0);
  if (address == MAP_FAILED) return failed("map code from");
  return WrittenImage(address, size);
}

WrittenImage::WrittenImage(WrittenImage&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

WrittenImage& WrittenImage::operator=(WrittenImage&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

WrittenImage::~WrittenImage() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

}  // namespace berth::library
