// Models out of files: which kind a file is, and what a package's model needs.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/file.h"
#include "berth/model.h"
#include "model/companions.h"
#include "pack/contents.h"
#include "pack/package_impl.h"

namespace berth {
namespace {

// What is handed to Model::load_with of a model.
struct Parts {
  std::vector<std::byte> library;
  std::vector<std::byte> blob;  // Of constants; or empty.
  std::shared_ptr<const operators::ExternalCalls> calls;
};

Result<Parts> read_parts(const Package::Impl& package,
                         const PackagedModel& model) {
  for (const auto& [what, compiled_for, here] : model.mismatches())
    return fail(Code::kIncompatible, "model '", model.name,
                "' was compiled for ", what, " ", compiled_for, ", this is ",
                here);
  Parts parts;
  BERTH_TRY(parts.library, package.read(model.library.name));
  operators::ExternalCalls calls;
  if (model.operators) {
    BERTH_TRY(const auto json, package.read(model.operators->name));
    BERTH_TRY(calls, noted(operators::ExternalCalls::parse(json),
                           "reading '" + model.operators->name + "'"));
  }
  parts.calls =
      std::make_shared<const operators::ExternalCalls>(std::move(calls));
  if (model.constants == PackagedConstants::kBlob) {
    BERTH_TRY(parts.blob, package.read(model.constant_files.front().name));
  }
  return parts;
}

// The constants of a model that has them in an entry each, every one of which
// is what torch.save writes: an archive of its own, with the bytes of the
// tensor's storage in a file. What is pickled beside it is not read.
class NamedEntries {
 public:
  NamedEntries(const Package::Impl& package, const PackagedModel& model)
      : package_(package), places_(package.places(model)) {}

  Result<Tensor> operator()(std::string_view name, DType dtype) const {
    const auto found = places_.find(name);
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
  const pack::ConstantPlaces& places_;
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
  const Package::Impl& impl = *package.impl_;
  BERTH_TRY(const Parts parts,
            noted(read_parts(impl, *model), "loading '" + given.label + "'"));
  const auto weights = model->constants == PackagedConstants::kEntries
                           ? model::Weights(NamedEntries(impl, *model))
                           : model::Weights(parts.blob);
  return load_with(parts.library, {weights, parts.calls}, given);
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
