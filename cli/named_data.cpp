#include "cli/named_data.h"

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>

#include <algorithm>

#include "executorch/payload.h"

namespace berth::cli {

using executorch::Program;
using executorch::quoted_key;

Result<NamedData> NamedData::gather(
    const Program& program, const std::vector<std::string>& data_paths) {
  NamedData data;
  for (const auto& [key, bytes] : program.named_data())
    data.entries_.emplace(key, bytes);
  for (const std::string& path : data_paths)
    BERTH_CHECK(noted(data.add(path), "reading '" + path + "'"));
  return data;
}

std::optional<NamedData::Bytes> NamedData::find(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

Status NamedData::add(const std::string& path) {
  namespace extension = ::executorch::extension;
  auto loader = extension::FileDataLoader::from(path.c_str());
  if (!loader.ok()) return fail(Code::kNotFound, "cannot open the file");
  auto map = extension::FlatTensorDataMap::load(&loader.get());
  if (!map.ok()) return fail(Code::kCorrupt, "not a .ptd file");
  const auto count = map->get_num_keys();
  if (!count.ok()) return fail(Code::kCorrupt, "the file has no keys");
  for (std::uint32_t i = 0; i < count.get(); ++i) {
    const auto key = map->get_key(i);
    if (!key.ok()) return fail(Code::kCorrupt, "key ", i, " is not there");
    const auto data = map->get_data(key.get());
    if (!data.ok())
      return fail(Code::kCorrupt, "the data of key ", quoted_key(key.get()),
                  " cannot be read");
    const auto* bytes = static_cast<const std::byte*>(data->data());
    owned_.emplace_back(bytes, bytes + data->size());
    entries_.emplace(key.get(), Bytes(owned_.back()));
  }
  return ok();
}

std::vector<SharedLibrary> libraries_of(const Program& program) {
  std::vector<SharedLibrary> libraries;
  for (const auto& method : program.methods()) {
    for (std::size_t i = 0; i < method.delegates.size(); ++i) {
      const std::string& key = method.delegates[i].library_key;
      if (key.empty()) continue;
      auto found = std::ranges::find(libraries, key, &SharedLibrary::key);
      if (found == libraries.end())
        found = libraries.insert(
            libraries.end(),
            SharedLibrary{key, method.delegates[i].instruction_set, {}});
      found->users.push_back(method.name + " " + std::to_string(i));
    }
  }
  return libraries;
}

}  // namespace berth::cli
