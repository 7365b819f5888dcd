// A compiled model: an AOTInductor library with its constants, ready to run, as
// often at once as it has replicas.
//
// Loading follows design's order: check the bytes, give the library an identity
// of its own, place it in a private file, map it, bind its functions, hand it
// its constants. See docs/architecture.md.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/export.h"
#include "berth/options.h"
#include "berth/result.h"
#include "berth/signature.h"
#include "berth/tensor.h"

namespace berth {

class Package;

namespace model {
struct Companions;
}

// Owns     the mapped library of each replica, its file, and the constants.
//          Destroying the Model (or close()) unmaps the libraries and removes
//          the files. Outputs stay valid after that: their memory is Berth's.
// Threads  run() and close() may be called from any. As many runs overlap as
//          there are replicas, one unless ModelOptions says more; those beyond
//          wait, or fail at once. Moving and destroying a Model is for when no
//          call is in progress. Any number of models may be loaded and
//          destroyed at once.
// Fails    kCorrupt and kIncompatible when the library is refused before it is
//          mapped, kUnsupported when it needs operators that Berth does not
//          serve, kSystem when the file cannot be placed or mapped, kNotFound
//          and kInvalidArgument for constants; kInvalidArgument for inputs that
//          are not what was compiled, kDelegate when a run fails, kBusy when a
//          run should not wait and would have to.
class BERTH_API Model {
 public:
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // `library` is the image of an AOTInductor shared object; it is copied.
  // `weights` are the constants in index order (the exporter's weights blob),
  // or empty when the library holds them itself; they are copied.
  static Result<Model> load(std::span<const std::byte> library,
                            std::span<const std::byte> weights = {},
                            const ModelOptions& options = {});

  // A model of a package, by ModelOptions::model_name. Fails as Package does,
  // too, and with kIncompatible when it was compiled for another device,
  // machine or instruction set.
  static Result<Model> load(const Package& package,
                            const ModelOptions& options = {});

  // The same from a file: a package (.pt2), or a library that holds its
  // constants (.so). Which one it is, its first bytes tell.
  static Result<Model> load_file(const std::string& path,
                                 const ModelOptions& options = {});

  // In the order in which run() takes and gives them. Good as long as the Model
  // is, closed or not.
  const std::vector<TensorSpec>& inputs() const noexcept;
  const std::vector<TensorSpec>& outputs() const noexcept;
  const CallSpec& call_spec() const noexcept;

  // Runs with `inputs`. One whose dtype or sizes are not what was compiled is
  // refused; one with other strides, or misaligned, is copied first. They are
  // only read unless the model itself writes to them, in which case a copied
  // one is copied back. The outputs are new tensors, or views of what the model
  // returned; one without storage stands for a None.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);

  // The same into the caller's `outputs`. One that has elements or memory takes
  // a copy of the result, whose dtype and sizes must be its own. One that was
  // default-constructed takes the result itself: reusing the span then makes
  // the steady state free of allocations.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs);

  // The private file that is mapped, the first replica's.
  const std::string& library_path() const noexcept;

  // The private file of each replica.
  std::vector<std::string> library_paths() const;

  // Closes early, to learn whether it went well: kInternal when a library
  // stayed mapped. Waits for the runs in progress; those that wait for a
  // replica, and later ones, fail with kInvalidArgument. The model can only be
  // destroyed afterwards.
  Status close();

 private:
  class Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  static Result<Model> load_with(std::span<const std::byte> library,
                                 const model::Companions& with,
                                 const ModelOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
