// What a Package keeps.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/package.h"
#include "pack/archive.h"
#include "pack/contents.h"

namespace berth {

// Owns     the archive.
// Threads  immutable; share freely.
class Package::Impl {
 public:
  static Result<std::unique_ptr<Impl>> open(pack::Source source,
                                            std::string label);

  // Without the archive's root folder. kNotFound names the package.
  Result<std::vector<std::byte>> read(std::string_view name) const;

  // Of a model that has its constants in separate entries.
  const pack::ConstantPlaces& places(const PackagedModel& model) const {
    return places_.find(model.name)->second;
  }

  const std::string& label() const noexcept { return label_; }
  const std::vector<PackagedModel>& models() const noexcept { return models_; }
  const std::vector<PackagedFile>& files() const noexcept { return files_; }

 private:
  Impl(pack::Archive archive, std::string label)
      : archive_(std::move(archive)), label_(std::move(label)) {}
  Status index();
  Status describe(PackagedModel& model);
  Status place_constants(PackagedModel& model);

  pack::Archive archive_;
  std::string label_;
  std::string root_;
  std::vector<PackagedModel> models_;
  std::vector<PackagedFile> files_;
  std::map<std::string, pack::ConstantPlaces> places_;  // By model.
};

}  // namespace berth
