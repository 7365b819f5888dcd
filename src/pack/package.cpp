#include "berth/package.h"

#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "pack/contents.h"
#include "pack/package_impl.h"

namespace berth {
namespace {

// Of files that are parsed: torch writes a few hundred bytes, and a line for
// each constant.
constexpr std::uint64_t kLargestJson = 64u << 20;

}  // namespace

const char* to_string(PackagedConstants constants) noexcept {
  switch (constants) {
    case PackagedConstants::kInLibrary:
      return "in the library";
    case PackagedConstants::kBlob:
      return "in one blob";
    case PackagedConstants::kEntries:
      return "in separate entries";
  }
  return "unknown";
}

std::vector<TargetMismatch> PackagedModel::mismatches() const {
  utsname system{};
  ::uname(&system);
  std::vector<TargetMismatch> found;
  const auto compare = [&](const char* what, const std::string& compiled_for,
                           const char* here) {
    if (!compiled_for.empty() && compiled_for != here)
      found.push_back({what, compiled_for, here});
  };
  compare("platform", platform, "linux");
  compare("machine", machine, system.machine);
  compare("device", device, "cpu");
  return found;
}

Result<std::unique_ptr<Package::Impl>> Package::Impl::open(pack::Source source,
                                                           std::string label) {
  BERTH_TRY(pack::Archive archive, pack::Archive::open(std::move(source)));
  std::unique_ptr<Impl> impl(new Impl(std::move(archive), std::move(label)));
  BERTH_CHECK(impl->index());
  return impl;
}

Status Package::Impl::index() {
  BERTH_TRY(root_, pack::find_root(archive_));
  for (const pack::Entry& entry : archive_.entries())
    if (entry.name.starts_with(root_))
      files_.push_back({entry.name.substr(root_.size()), entry.size});
  BERTH_TRY(models_, pack::list_models(archive_, root_));
  for (PackagedModel& model : models_) BERTH_CHECK(describe(model));
  return ok();
}

Status Package::Impl::describe(PackagedModel& model) {
  // Beside x.so stands x_metadata.json.
  std::string name = model.library.name;
  name.replace(name.size() - 3, 3, "_metadata.json");
  const auto file = std::ranges::find(model.files, name, &PackagedFile::name);
  if (file != model.files.end()) {
    BERTH_TRY(const auto json, read(name));
    BERTH_CHECK(
        noted(pack::read_metadata(json, model), "reading '" + name + "'"));
  }
  // Beside x.so stands x.json.
  name = model.library.name;
  name.replace(name.size() - 3, 3, ".json");
  const auto operators =
      std::ranges::find(model.files, name, &PackagedFile::name);
  if (operators != model.files.end()) model.operators = *operators;
  return model.constants == PackagedConstants::kEntries ? place_constants(model)
                                                        : ok();
}

Status Package::Impl::place_constants(PackagedModel& model) {
  const PackagedFile config = model.constant_files.front();
  BERTH_TRY(const auto json, read(config.name));
  pack::ConstantPlaces& places = places_[model.name];
  BERTH_TRY(places, noted(pack::read_weights_config(json),
                          "reading '" + config.name + "'"));
  for (const auto& [constant, place] : places) {
    const std::string path = std::string(pack::kWeights) + place.file;
    if (std::ranges::count(model.constant_files, path, &PackagedFile::name) > 0)
      continue;  // Constants that share a file.
    const auto found = std::ranges::find(files_, path, &PackagedFile::name);
    if (found == files_.end())
      return fail(Code::kCorrupt, "constant '", constant, "' of model '",
                  model.name, "' should be in '", path,
                  "', which is not in the package");
    model.constant_files.push_back(*found);
  }
  return ok();
}

Result<std::vector<std::byte>> Package::Impl::read(
    std::string_view name) const {
  const pack::Entry* entry = archive_.find(root_ + std::string(name));
  if (entry == nullptr)
    return fail(Code::kNotFound, "the package has no file '", name, "'");
  if (name.ends_with(".json") && entry->size > kLargestJson)
    return fail(Code::kCorrupt, "'", name, "' has ", entry->size,
                " bytes, expected at most ", kLargestJson);
  return archive_.read(*entry);
}

Package::Package(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Package::Package(Package&&) noexcept = default;
Package& Package::operator=(Package&&) noexcept = default;
Package::~Package() = default;

Result<Package> Package::open(const std::string& path) {
  const auto open_it = [&]() -> Result<Package> {
    BERTH_TRY(pack::Source source, pack::Source::open(path));
    BERTH_TRY(auto impl, Impl::open(std::move(source), path));
    return Package(std::move(impl));
  };
  return noted(open_it(), "opening package '" + path + "'");
}

Result<Package> Package::open(std::span<const std::byte> bytes) {
  const std::string label = "a package in memory";
  BERTH_TRY(auto impl,
            noted(Impl::open(pack::Source(bytes), label), "opening " + label));
  return Package(std::move(impl));
}

const std::vector<PackagedModel>& Package::models() const noexcept {
  return impl_->models();
}
const std::vector<PackagedFile>& Package::files() const noexcept {
  return impl_->files();
}
const std::string& Package::label() const noexcept { return impl_->label(); }

Result<const PackagedModel*> Package::find(std::string_view name) const {
  const std::vector<PackagedModel>& all = models();
  if (name.empty() && all.size() == 1) return &all.front();
  const std::string_view wanted = name.empty() ? "model" : name;
  const auto found = std::ranges::find(all, wanted, &PackagedModel::name);
  if (found != all.end()) return &*found;
  std::string names;
  for (const PackagedModel& model : all)
    names += (names.empty() ? "'" : ", '") + model.name + "'";
  return fail(Code::kNotFound, label(), " has no model '", wanted, "', it has ",
              names);
}

Result<std::vector<std::byte>> Package::read(std::string_view name) const {
  return noted(impl_->read(name), "reading from " + label());
}

}  // namespace berth
