// Models out of files: which kind a file is, and what a package's model needs.
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/file.h"
#include "berth/model.h"
#include "model/weights.h"
#include "pack/contents.h"
#include "pack/package_impl.h"

namespace berth {
namespace {

Status check_target(const PackagedModel& model) {
  utsname here{};
  ::uname(&here);
  const auto check = [&](std::string_view what, std::string_view expected,
                         std::string_view found) -> Status {
    if (found.empty() || found == expected) return ok();
    return fail(Code::kIncompatible, "model '", model.name,
                "' was compiled for ", what, " ", found, ", this is ",
                expected);
  };
  BERTH_CHECK(check("device", "cpu", model.device));
  BERTH_CHECK(check("platform", "linux", model.platform));
  return check("machine", here.machine, model.machine);
}

// The constants of a model that has them in an entry each, every one of which
// is what torch.save writes: an archive of its own, with the bytes of the
// tensor's storage in a file. What is pickled beside it is not read.
class NamedEntries {
 public:
  NamedEntries(const Package::Impl& package,
               std::map<std::string, pack::ConstantPlace> places)
      : package_(package), places_(std::move(places)) {}

  Result<Tensor> operator()(std::string_view name, DType dtype) const {
    const auto found = places_.find(std::string(name));
    if (found == places_.end())
      return fail(Code::kNotFound, "the package has no constant '", name, "'");
    return noted(read(found->second, dtype),
                 "reading constant '" + std::string(name) + "' from '" +
                     found->second.file + "'");
  }

 private:
  Result<Tensor> read(const pack::ConstantPlace& place, DType dtype) const {
    BERTH_TRY(auto storage, read_storage(place.file));
    BERTH_TRY(const Tensor whole,
              Tensor::borrow(storage.data(), storage.size(),
                             std::array{static_cast<std::int64_t>(
                                 storage.size() / std::max<std::size_t>(
                                                      element_size(dtype), 1))},
                             {}, dtype));
    BERTH_TRY(const Tensor view,
              whole.view(place.sizes, place.strides, place.offset));
    // The same strides, on memory of its own that begins with it.
    BERTH_TRY(Tensor constant,
              Tensor::empty_strided(place.sizes, place.strides, dtype));
    BERTH_CHECK(constant.copy_from(view));
    return constant;
  }

  Result<std::vector<std::byte>> read_storage(const std::string& file) const {
    BERTH_TRY(const auto saved,
              package_.read(std::string(pack::kWeights) + file));
    BERTH_TRY(const auto archive, pack::Archive::open(pack::Source(saved)));
    for (const pack::Entry& entry : archive.entries())
      if (entry.name.ends_with("/data/0")) return archive.read(entry);
    return fail(Code::kCorrupt, "no storage ('data/0') was saved in it");
  }

  const Package::Impl& package_;
  std::map<std::string, pack::ConstantPlace> places_;
};

}  // namespace

Result<Model> Model::load(const Package& package, const ModelOptions& options) {
  BERTH_TRY(const PackagedModel* model, package.find(options.model_name));
  ModelOptions given = options;
  if (given.label.empty()) {
    given.label = package.label();
    if (package.models().size() > 1) given.label += " model " + model->name;
  }
  if (given.instruction_set.empty())
    given.instruction_set = model->instruction_set;
  const std::string note = "loading '" + given.label + "'";
  BERTH_CHECK(noted(check_target(*model), note));
  const Package::Impl& files = *package.impl_;
  BERTH_TRY(const auto library, noted(files.read(model->library.name), note));
  switch (model->constants) {
    case PackagedConstants::kBlob: {
      BERTH_TRY(const auto blob,
                noted(files.read(model->constant_files.front().name), note));
      return load(library, blob, given);
    }
    case PackagedConstants::kEntries: {
      BERTH_TRY(const auto json,
                noted(files.read(model->constant_files.front().name), note));
      BERTH_TRY(auto places, noted(pack::read_weights_config(json), note));
      return load_with(library,
                       model::Weights(NamedEntries(files, std::move(places))),
                       given);
    }
    case PackagedConstants::kInLibrary:
      break;
  }
  return load(library, {}, given);
}

Result<Model> Model::load_file(const std::string& path,
                               const ModelOptions& options) {
  BERTH_TRY(const auto source, pack::Source::open(path));
  std::array<std::byte, 4> head{};
  if (source.size() >= head.size()) BERTH_CHECK(source.read(0, head));
  if (pack::Archive::is_archive(head)) {
    BERTH_TRY(const Package package, Package::open(path));
    return load(package, options);
  }
  ModelOptions labelled = options;
  if (labelled.label.empty()) labelled.label = path;
  std::vector<std::byte> bytes(source.size());
  BERTH_CHECK(noted(source.read(0, bytes), "reading '" + path + "'"));
  return load(bytes, {}, labelled);
}

}  // namespace berth
