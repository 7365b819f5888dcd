// A program's named data with that of its .ptd files, and who uses it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "executorch/program.h"

namespace berth::cli {

// Owns     copies of what came from the .ptd files; borrows the program's
// bytes.
class NamedData {
 public:
  using Bytes = std::span<const std::byte>;

  // Fails with kNotFound and kCorrupt, naming the file.
  static Result<NamedData> gather(const executorch::Program& program,
                                  const std::vector<std::string>& data_paths);

  std::optional<Bytes> find(const std::string& key) const;

 private:
  Status add(const std::string& path);

  std::vector<std::vector<std::byte>> owned_;
  std::map<std::string, Bytes> entries_;
};

// A library, and which delegates have it.
struct SharedLibrary {
  std::string key;
  std::string instruction_set;     // As the exporter recorded it, or empty.
  std::vector<std::string> users;  // "forward 0"
};

// In order of first use.
std::vector<SharedLibrary> libraries_of(const executorch::Program& program);

}  // namespace berth::cli
