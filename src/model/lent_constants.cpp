#include "model/lent_constants.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "library/os.h"
#include "shim/handle.h"

namespace berth::model {
namespace {

Tensor& tensor_of(AtenTensorHandle handle) { return **shim::borrow(handle); }

}  // namespace

Result<LentConstants> LentConstants::on(int file, std::size_t size_bytes) {
  if (size_bytes == 0) return LentConstants(nullptr, 0);
  void* memory = library::os().mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED)
    return fail(errno == ENOMEM ? Code::kOutOfMemory : Code::kSystem,
                "cannot map ", size_bytes,
                " bytes of constants: ", base::errno_text(errno));
  return LentConstants(static_cast<std::byte*>(memory), size_bytes);
}

LentConstants::LentConstants(LentConstants&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      constants_(std::move(other.constants_)) {
  other.constants_.clear();
}

LentConstants::~LentConstants() {
  for (const Constant& constant : constants_) {
    // Whether a container frees the handle that it made of ours depends on the
    // torch that compiled it: a share that is left says that it did not.
    if (constant.held != nullptr && constant.held != constant.given &&
        tensor_of(constant.given).share_count() > 1)
      shim::discard(constant.held);
    shim::discard(constant.given);
  }
  if (memory_ != nullptr) ::munmap(memory_, size_bytes_);
}

Status LentConstants::add(std::string name, Result<Tensor> tensor) {
  AtenTensorHandle given = nullptr;
  BERTH_CHECK(shim::give(std::move(tensor), &given));
  constants_.push_back({std::move(name), given});
  return ok();
}

std::vector<abi::ConstantMapEntry> LentConstants::entries() const {
  std::vector<abi::ConstantMapEntry> entries;
  for (const Constant& constant : constants_)
    entries.push_back({constant.name.c_str(), constant.given});
  return entries;
}

void LentConstants::note_held(std::span<const abi::ConstantMapEntry> held) {
  std::size_t at = 0;
  for (Constant& constant : constants_) {
    if (at == held.size()) return;
    const AtenTensorHandle handle = held[at].handle;
    if (handle == nullptr ||
        !tensor_of(handle).shares_storage_with(tensor_of(constant.given)))
      continue;
    constant.held = handle;
    ++at;
  }
}

}  // namespace berth::model
