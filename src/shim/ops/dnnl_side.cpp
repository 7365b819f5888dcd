#include "shim/ops/dnnl_side.h"

#include <utility>

namespace berth::shim {
namespace {

// oneDNN does not write to what it reads, but its arguments have one type.
void* writable(const void* data) { return const_cast<void*>(data); }

}  // namespace

Result<DnnlSide> DnnlSide::read(const DnnlPrimitive& work, int index,
                                const dnnl_memory_desc_t& outside) {
  return make(work, index, outside, true);
}

Result<DnnlSide> DnnlSide::written(const DnnlPrimitive& work, int index,
                                   const dnnl_memory_desc_t& outside) {
  return make(work, index, outside, false);
}

Result<DnnlSide> DnnlSide::make(const DnnlPrimitive& work, int index,
                                const dnnl_memory_desc_t& outside, bool read) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  DnnlSide side;
  side.index_ = index;
  side.outside_ = outside;
  side.inside_ = work.layout(index);
  if (dnnl->memory_desc_equal(&outside, &side.inside_) != 0) return side;
  BERTH_TRY(DnnlPrimitive copy,
            read ? DnnlPrimitive::reorder(outside, side.inside_)
                 : DnnlPrimitive::reorder(side.inside_, outside));
  side.copy_.emplace(std::move(copy));
  side.bytes_ =
      static_cast<std::int64_t>(dnnl->memory_desc_get_size(&side.inside_));
  return side;
}

Result<Scratch<std::byte>> DnnlSide::room() const {
  return Scratch<std::byte>::of(bytes_);
}

DnnlArgument DnnlSide::argument(const void* data,
                                const Scratch<std::byte>& room) const {
  return {index_, &inside_, copy_ ? room.data() : writable(data)};
}

Status DnnlSide::copy_in(const void* data,
                         const Scratch<std::byte>& room) const {
  if (!copy_) return ok();
  const DnnlArgument arguments[] = {{DNNL_ARG_FROM, &outside_, writable(data)},
                                    {DNNL_ARG_TO, &inside_, room.data()}};
  return copy_->run(arguments);
}

Status DnnlSide::copy_out(const Scratch<std::byte>& room, void* data) const {
  if (!copy_) return ok();
  const DnnlArgument arguments[] = {{DNNL_ARG_FROM, &inside_, room.data()},
                                    {DNNL_ARG_TO, &outside_, data}};
  return copy_->run(arguments);
}

}  // namespace berth::shim
