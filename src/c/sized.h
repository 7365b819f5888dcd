// Structs of the C interface, which begin with their size: the program and the
// library may each know more fields than the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "berth/result.h"
#include "berth/version.h"

namespace berth::c {

// Far beyond any struct; what is larger was never set.
inline constexpr std::size_t kMostStructBytes = 4096;

inline Status check_struct_size(std::size_t found, const char* name) {
  if (found >= sizeof(std::size_t) && found <= kMostStructBytes) return ok();
  return fail(Code::kInvalidArgument, "'", name, "' has ", found,
              " as its struct_size, which should be its size in bytes");
}

// What the caller set, and 0 for fields that the caller does not know. Fields
// that this library does not know must be 0: they ask for something that it
// cannot do.
template <typename Struct>
Result<Struct> read_struct(const Struct* given, const char* name) {
  BERTH_CHECK(check_struct_size(given->struct_size, name));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < given->struct_size; ++i) {
    if (bytes[i] != 0)
      return fail(Code::kUnsupported, "'", name, "' sets a field at byte ", i,
                  " that Berth " BERTH_VERSION " does not know");
  }
  Struct known{};
  std::memcpy(&known, bytes, std::min(sizeof(Struct), given->struct_size));
  return known;
}

// Writes as much of `value` as the caller's struct has, and 0 to fields that
// this library does not know.
template <typename Struct>
Status write_struct(Struct value, Struct* out, const char* name) {
  const std::size_t size = out->struct_size;
  BERTH_CHECK(check_struct_size(size, name));
  value.struct_size = size;
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  const std::size_t known = std::min(sizeof(Struct), size);
  std::memcpy(bytes, &value, known);
  std::memset(bytes + known, 0, size - known);
  return ok();
}

}  // namespace berth::c
