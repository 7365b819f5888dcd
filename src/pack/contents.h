// Where torch puts what into a .pt2 archive, and what its files say.
//
// Source: torch/csrc/export/pt2_archive_constants.h of torch 2.9 to 2.15, and
// the packages that those write (docs/compatibility.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "berth/package.h"
#include "pack/archive.h"

namespace berth::pack {

inline constexpr std::string_view kModels = "data/aotinductor/";
inline constexpr std::string_view kWeights = "data/weights/";
inline constexpr std::string_view kWeightsConfig = "weights_config.json";

// The archive's root folder with its '/', or nothing where it has none.
// kIncompatible when it is not a package, or of another version.
Result<std::string> find_root(const Archive& archive);

// The models under `root`, sorted by name, without what their metadata says.
Result<std::vector<PackagedModel>> list_models(const Archive& archive,
                                               std::string_view root);

// Reads `json`, an object of texts, into `model`.
Status read_metadata(base::Bytes json, PackagedModel& model);

// Where a constant is. A value.
// Units    elements, from the start of the file's storage.
struct ConstantPlace {
  std::string file;  // Of data/weights/.
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

// By the names that the exported module had for the constants.
using ConstantPlaces = std::map<std::string, ConstantPlace, std::less<>>;

Result<ConstantPlaces> read_weights_config(base::Bytes json);

}  // namespace berth::pack
