// One copy of a model's library that runs one call at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/options.h"
#include "berth/tensor.h"
#include "library/library.h"
#include "model/companions.h"
#include "model/container.h"
#include "model/shared_constants.h"
#include "shim/handle.h"

namespace berth::model {

// Owns     the mapped library, its file, its container.
// Threads  one call at a time, from any.
// Fails    as Model does.
class Replica {
 public:
  // One with constants of its own. `image` and the weights are copied.
  static Result<Replica> load(base::Bytes image, const Companions& with,
                              const elf::Host& host,
                              const ModelOptions& options);

  // Another one of the same image, on constants that a first one shares.
  static Result<Replica> load_on(const SharedConstants& constants,
                                 base::Bytes image, SharedCalls calls,
                                 const elf::Host& host,
                                 const ModelOptions& options);

  // Makes its constants common to it and to others, before its first run.
  // Nothing when the library cannot do that.
  Result<std::optional<SharedConstants>> share_constants();

  // Runs with as many `inputs` as the container has. The outputs are to be
  // taken, each once, before the next run.
  Status run(std::span<const Tensor> inputs);
  Tensor take_output(std::size_t i);

  // Of a replica that was not closed.
  Container& container() { return *container_; }
  const Container& container() const { return *container_; }

  const std::string& path() const noexcept { return library_.path(); }

  // Deletes the container and closes the library. It cannot run afterwards.
  Status close();

 private:
  Replica(library::Library library, Container container, SharedCalls calls);

  library::Library library_;
  std::optional<Container> container_;  // Dies before its library.
  SharedCalls calls_;
  // Reused by every run, so that the steady state allocates nothing.
  std::vector<AtenTensorHandle> input_handles_;
  std::vector<AtenTensorHandle> output_handles_;
};

}  // namespace berth::model
