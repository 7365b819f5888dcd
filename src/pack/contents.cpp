#include "pack/contents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace berth::pack {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "archive_format";
constexpr std::string_view kVersion = "archive_version";
constexpr std::string_view kByteOrder = "byteorder";

Json parse(base::Bytes text) {
  const auto* begin = reinterpret_cast<const char*>(text.data());
  return Json::parse(begin, begin + text.size(), nullptr,
                     /*allow_exceptions=*/false);
}

// Compares the whole of a small file; one that is not there is as expected when
// it `may_lack`.
Status expect(const Archive& archive, const std::string& name,
              std::string_view expected, bool may_lack) {
  const Entry* entry = archive.find(name);
  if (entry == nullptr)
    return may_lack ? ok()
                    : fail(Code::kIncompatible, "'", name, "' is missing");
  BERTH_TRY(const auto read, archive.read(*entry));
  const std::string_view found(reinterpret_cast<const char*>(read.data()),
                               read.size());
  if (found == expected) return ok();
  return fail(Code::kIncompatible, "'", name, "' should say '", expected,
              "', found '", found.substr(0, 40), "'");
}

bool read_numbers(const Json& list, std::vector<std::int64_t>& numbers) {
  if (!list.is_array()) return false;
  for (const Json& number : list) {
    if (!number.is_number_integer()) return false;
    numbers.push_back(number.get<std::int64_t>());
  }
  return true;
}

// The one library among the files; several when there are kernels of their own.
Result<PackagedFile> find_library(const PackagedModel& model) {
  const PackagedFile* found = nullptr;
  std::size_t count = 0;
  for (const PackagedFile& file : model.files) {
    if (!file.name.ends_with(".so")) continue;
    ++count;
    if (found == nullptr || file.name.ends_with(".wrapper.so")) found = &file;
  }
  if (found == nullptr)
    return fail(Code::kIncompatible, "model '", model.name,
                "' has no library (.so) among its ", model.files.size(),
                " files");
  if (count > 1)
    return fail(Code::kUnsupported, "model '", model.name, "' has ", count,
                " libraries, expected one");
  return *found;
}

Status find_constants(PackagedModel& model) {
  for (const PackagedFile& file : model.files) {
    const bool is_blob = file.name.ends_with(".blob");
    if (!is_blob && !file.name.ends_with('/' + std::string(kWeightsConfig)))
      continue;
    if (model.constants != PackagedConstants::kInLibrary)
      return fail(Code::kCorrupt, "model '", model.name,
                  "' has its constants twice: '",
                  model.constant_files.front().name, "' and '", file.name, "'");
    model.constants =
        is_blob ? PackagedConstants::kBlob : PackagedConstants::kEntries;
    model.constant_files.push_back(file);
  }
  return ok();
}

}  // namespace

Result<std::string> find_root(const Archive& archive) {
  for (const Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(kFormat)) continue;
    std::string root = entry.name.substr(0, entry.name.size() - kFormat.size());
    // At the top, or in one folder.
    const std::size_t slash = root.find('/');
    if (!root.empty() && slash != root.size() - 1) continue;
    BERTH_CHECK(expect(archive, root + std::string(kFormat), "pt2", false));
    BERTH_CHECK(expect(archive, root + std::string(kVersion), "0", true));
    BERTH_CHECK(
        expect(archive, root + std::string(kByteOrder), "little", true));
    return root;
  }
  return fail(Code::kIncompatible, "a .pt2 package has a file '", kFormat,
              "', none found among the ", archive.entries().size(),
              " of this archive");
}

Result<std::vector<PackagedModel>> list_models(const Archive& archive,
                                               std::string_view root) {
  std::map<std::string, PackagedModel> models;
  const std::string folder = std::string(root) + std::string(kModels);
  for (const Entry& entry : archive.entries()) {
    if (!entry.name.starts_with(folder)) continue;
    const std::string_view rest =
        std::string_view(entry.name).substr(folder.size());
    const std::size_t slash = rest.find('/');
    if (slash == 0 || slash == std::string_view::npos) continue;
    PackagedModel& model = models[std::string(rest.substr(0, slash))];
    model.files.push_back({entry.name.substr(root.size()), entry.size});
  }
  if (models.empty())
    return fail(Code::kIncompatible,
                "the package has no compiled model: nothing is in '", kModels,
                "'");
  std::vector<PackagedModel> listed;
  for (auto& [name, model] : models) {
    model.name = name;
    BERTH_TRY(model.library, find_library(model));
    BERTH_CHECK(find_constants(model));
    listed.push_back(std::move(model));
  }
  return listed;
}

Status read_metadata(base::Bytes json, PackagedModel& model) {
  const Json parsed = parse(json);
  if (!parsed.is_object())
    return fail(Code::kCorrupt, "the metadata of model '", model.name,
                "' is not a JSON object");
  for (const auto& [key, value] : parsed.items()) {
    if (!value.is_string())
      return fail(Code::kCorrupt, "the metadata of model '", model.name,
                  "' should be texts, '", key, "' is a ", value.type_name());
    model.metadata[key] = value.get_ref<const std::string&>();
  }
  const auto take = [&](const char* key) {
    const auto found = model.metadata.find(key);
    return found == model.metadata.end() ? std::string() : found->second;
  };
  model.device = take("AOTI_DEVICE_KEY");
  model.machine = take("AOTI_MACHINE");
  model.platform = take("AOTI_PLATFORM");
  model.instruction_set = take("AOTI_CPU_ISA");
  return ok();
}

Result<ConstantPlaces> read_weights_config(base::Bytes json) {
  const Json parsed = parse(json);
  if (!parsed.is_object())
    return fail(Code::kCorrupt, kWeightsConfig, " is not a JSON object");
  ConstantPlaces places;
  for (const auto& [name, place] : parsed.items()) {
    ConstantPlace& read = places[name];
    if (!place.is_array() || place.size() != 4 || !place[0].is_string() ||
        !read_numbers(place[1], read.sizes) ||
        !read_numbers(place[2], read.strides) || !place[3].is_number_integer())
      return fail(Code::kCorrupt, kWeightsConfig,
                  " should say [file, sizes, strides, offset] of '", name,
                  "', found ", place.dump().substr(0, 80));
    read.file = place[0].get_ref<const std::string&>();
    read.offset = place[3].get<std::int64_t>();
  }
  return places;
}

}  // namespace berth::pack
