#include "cli/files.h"

#include <unistd.h>

#include <fstream>
#include <set>

namespace berth::cli {

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(Code::kNotFound, "cannot open '", path, "'");
  const std::streamoff size = file.tellg();
  if (size < 0) return fail(Code::kSystem, "cannot read '", path, "'");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size))
    return fail(Code::kSystem, "reading '", path, "' stopped after ",
                file.gcount(), " of ", size, " bytes");
  return bytes;
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
