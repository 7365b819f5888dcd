#include "model/shared_constants.h"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "library/memory_file.h"
#include "library/os.h"
#include "tensor/allocator.h"

namespace berth::model {
namespace {

constexpr std::int64_t kNone[] = {0};
constexpr std::int64_t kStep[] = {1};

// All bytes of the storage; an empty view of it begins where it does.
Result<base::Bytes> storage_of(const Tensor& tensor) {
  BERTH_TRY(const Tensor start, tensor.view(kNone, kStep, 0));
  return base::Bytes(static_cast<const std::byte*>(start.data()),
                     tensor.storage_size_bytes());
}

// `like` on `memory`, which is as long as its whole storage.
Result<Tensor> moved_to(void* memory, const Tensor& like) {
  BERTH_TRY(const Tensor storage,
            Tensor::borrow(memory, like.storage_size_bytes(), kNone, kStep,
                           like.dtype()));
  return storage.view(like.sizes(), like.strides(), like.storage_offset());
}

}  // namespace

Result<SharedConstants> SharedConstants::copy_of(
    const std::vector<NamedConstant>& constants) {
  SharedConstants shared;
  shared.file_ = library::create_memory_file("berth_constants", false);
  if (!shared.file_)
    return fail(Code::kSystem, "cannot make a memory file for constants: ",
                base::errno_text(errno));
  const auto write = [&](base::Bytes bytes) {
    shared.size_bytes_ += bytes.size();
    return library::os().write_all(shared.file_.get(), {&bytes, 1},
                                   "a memory file");
  };
  constexpr std::array<std::byte, tensor::kAlignment> kPadding{};
  for (const NamedConstant& constant : constants) {
    shared.places_.push_back({constant, shared.size_bytes_});
    BERTH_TRY(const base::Bytes bytes, storage_of(constant.tensor));
    BERTH_CHECK(
        noted(write(bytes), "sharing constant '" + constant.name + "'"));
    const std::size_t over = bytes.size() % kPadding.size();
    if (over != 0) BERTH_CHECK(write(std::span(kPadding).subspan(over)));
  }
  // Private mappings may still be written to; the file never again.
  if (!library::seal_memory_file(shared.file_.get()))
    return fail(Code::kSystem,
                "cannot seal a memory file: ", base::errno_text(errno));
  return shared;
}

Result<LentConstants> SharedConstants::lend() const {
  BERTH_TRY(LentConstants lent, LentConstants::on(file_.get(), size_bytes_));
  for (const Place& place : places_) {
    std::byte* memory =
        lent.memory() == nullptr ? nullptr : lent.memory() + place.offset;
    BERTH_CHECK(
        lent.add(place.constant.name, moved_to(memory, place.constant.tensor)));
  }
  return lent;
}

}  // namespace berth::model
