// Files, for a tool that runs once: what they are, and all of their bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

enum class FileKind {
  kPackage,  // .pt2: a zip archive.
  kProgram,  // .pte
  kLibrary,  // .so
};

// By its first bytes. Fails with kNotFound, and kInvalidArgument for others.
Result<FileKind> kind_of(const std::string& path);

// Fails with kNotFound or kSystem, naming the path.
Result<std::vector<std::byte>> read_file(const std::string& path);

// Owns     a mapping of a whole file, for reading; nothing else of it.
// Threads  immutable; share freely.
class MappedFile {
 public:
  // Fails as read_file() does. Whoever cuts the file short meanwhile ends this
  // process.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// Replaces the file. Fails with kSystem.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// The paths of everything mapped into this process whose file name holds
// `part`, without repetition.
std::vector<std::string> mapped_files(const std::string& part);

// Resident memory of this process in bytes.
std::size_t resident_bytes();

}  // namespace berth::cli
