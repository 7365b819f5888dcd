#include "model/replica.h"

#include <utility>

namespace berth::model {
namespace {

Status borrow(Container& container, const SharedConstants& constants) {
  BERTH_TRY(LentConstants lent, constants.lend());
  return noted(container.borrow_constants(std::move(lent)),
               "sharing constants");
}

}  // namespace

Replica::Replica(library::Library library, Container container,
                 SharedCalls calls)
    : library_(std::move(library)),
      container_(std::move(container)),
      calls_(std::move(calls)),
      input_handles_(container_->input_names().size()),
      output_handles_(container_->output_names().size()) {}

Result<Replica> Replica::load(base::Bytes image, const Companions& with,
                              const elf::Host& host,
                              const ModelOptions& options) {
  BERTH_TRY(
      library::Library library,
      library::Library::open(image, host, Container::entry_points(), options));
  BERTH_TRY(Container container, Container::create(library));
  BERTH_CHECK(
      noted(container.give_constants(with.weights), "giving constants"));
  return Replica(std::move(library), std::move(container), with.calls);
}

Result<Replica> Replica::load_on(const SharedConstants& constants,
                                 base::Bytes image, SharedCalls calls,
                                 const elf::Host& host,
                                 const ModelOptions& options) {
  BERTH_TRY(
      library::Library library,
      library::Library::open(image, host, Container::entry_points(), options));
  BERTH_TRY(Container container, Container::create(library));
  BERTH_CHECK(borrow(container, constants));
  return Replica(std::move(library), std::move(container), std::move(calls));
}

Result<std::optional<SharedConstants>> Replica::share_constants() {
  std::optional<SharedConstants> shared;
  if (!container_->can_share_constants()) return shared;
  BERTH_TRY(const auto constants, container_->constants());
  BERTH_TRY(shared, SharedConstants::copy_of(constants));
  // A new container, because not every library gives back the memory of
  // constants while the container that read them lives.
  container_.reset();
  BERTH_TRY(Container container, Container::create(library_));
  BERTH_CHECK(borrow(container, *shared));
  container_.emplace(std::move(container));
  return shared;
}

Status Replica::run(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_handles_[i] = shim::wrap(Tensor(inputs[i]));
    if (input_handles_[i] != nullptr) continue;
    while (i > 0) shim::discard(std::exchange(input_handles_[--i], nullptr));
    return fail(Code::kOutOfMemory, "no memory for the handles of ",
                inputs.size(), " inputs");
  }
  return container_->run(input_handles_, output_handles_, calls_.get());
}

Tensor Replica::take_output(std::size_t i) {
  return shim::unwrap(std::exchange(output_handles_[i], nullptr));
}

Status Replica::close() {
  container_.reset();
  return library_.close();
}

}  // namespace berth::model
