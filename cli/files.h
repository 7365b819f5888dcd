// Whole files, for a tool that runs once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

// Fails with kNotFound or kSystem, naming the path.
Result<std::vector<std::byte>> read_file(const std::string& path);

// The paths of everything mapped into this process whose file name holds
// `part`, without repetition.
std::vector<std::string> mapped_files(const std::string& part);

// Resident memory of this process in bytes.
std::size_t resident_bytes();

}  // namespace berth::cli
