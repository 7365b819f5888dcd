// What a Package keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/package.h"
#include "pack/archive.h"

namespace berth {

// Owns     the archive.
// Threads  immutable; share freely.
class Package::Impl {
 public:
  static Result<std::unique_ptr<Impl>> open(pack::Source source,
                                            std::string label);

  // Without the archive's root folder. kNotFound names the package.
  Result<std::vector<std::byte>> read(std::string_view name) const;

  const std::string& label() const noexcept { return label_; }
  const std::vector<PackagedModel>& models() const noexcept { return models_; }
  const std::vector<PackagedFile>& files() const noexcept { return files_; }

 private:
  Impl(pack::Archive archive, std::string label)
      : archive_(std::move(archive)), label_(std::move(label)) {}
  Status index();
  Status describe(PackagedModel& model) const;

  pack::Archive archive_;
  std::string label_;
  std::string root_;
  std::vector<PackagedModel> models_;
  std::vector<PackagedFile> files_;
};

}  // namespace berth
