// Opens this room's fake libraries in a process that refuses nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "library/library.h"

namespace berth::library::testing {

// Accepts every import: what the loader makes of it is the test.
class OpenHost final : public elf::Host {
 public:
  bool serves(std::string_view) const override { return true; }
  bool resolves(std::string_view, std::string_view) const override {
    return true;
  }
  bool has_library(std::string_view) const override { return true; }
  bool has_version(std::string_view, std::string_view) const override {
    return true;
  }
  bool runs(std::string_view) const override { return true; }
};

inline std::vector<std::byte> read_fake(const std::string& name) {
  auto bytes = base::read_file(BERTH_FAKES_DIR "/" + name + ".so");
  return bytes ? *std::move(bytes) : std::vector<std::byte>();
}

inline Result<Library> open_bytes(
    base::Bytes bytes, const std::string& temp_directory,
    std::span<const std::string_view> entry_points = {}) {
  ModelOptions options;
  options.temp_directory = temp_directory;
  return Library::open(bytes, OpenHost(), entry_points, options);
}

inline std::vector<std::string> loaded_paths() {
  std::vector<std::string> paths;
  for (const LoadedLibrary& library : loaded()) paths.push_back(library.path);
  return paths;
}

inline Result<Library> open_fake(const std::string& name,
                                 const std::string& temp_directory) {
  return open_bytes(read_fake(name), temp_directory);
}

}  // namespace berth::library::testing
