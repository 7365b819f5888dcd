#include "cli/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace berth::cli {

Result<FileKind> kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kNotFound, "cannot open '", path, "'");
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  const auto is = [&head](std::size_t at, std::string_view magic) {
    return std::string_view(head.data(), head.size())
        .substr(at)
        .starts_with(magic);
  };
  if (is(0, "PK\3\4")) return FileKind::kPackage;
  if (is(0,
         "\x7f"
         "ELF"))
    return FileKind::kLibrary;
  if (is(4, "ET")) return FileKind::kProgram;
  return fail(Code::kInvalidArgument, "'", path,
              "' is neither a package (.pt2), an ExecuTorch program (.pte) nor "
              "a library (.so)");
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(Code::kNotFound, "cannot open '", path, "'");
  if (std::filesystem::is_directory(path))
    return fail(Code::kInvalidArgument, "'", path, "' is a directory");
  const std::streamoff size = file.tellg();
  if (size < 0) return fail(Code::kSystem, "cannot read '", path, "'");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size))
    return fail(Code::kSystem, "reading '", path, "' stopped after ",
                file.gcount(), " of ", size, " bytes");
  return bytes;
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(Code::kNotFound, "cannot open '", path, "'");
  struct stat status {};
  void* start = nullptr;
  const bool is_known = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (is_known && size > 0)
    start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (!is_known)
    return fail(Code::kInvalidArgument, "'", path, "' is not a regular file");
  if (start == MAP_FAILED)
    return fail(Code::kSystem, "cannot map the ", size, " bytes of '", path,
                "'");
  return MappedFile({static_cast<const std::byte*>(start), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(Code::kSystem, "cannot write '", path, "'");
  return ok();
}

std::vector<std::string> mapped_files(const std::string& part) {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::size_t name = line.rfind('/') + 1;
    if (line.find(part, name) != std::string::npos)
      found.insert(line.substr(path));
  }
  return {found.begin(), found.end()};
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace berth::cli
