// What a tensor says about itself.
#include "shim/functions.h"
#include "shim/trap.h"

using berth::Code;
using berth::fail;
using berth::ok;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::trap;

namespace {

// Reads one property of the tensor into `*out`.
template <typename T, typename Property>
std::int32_t read(const char* entry, AtenTensorHandle handle, T* out,
                  const Property& property) noexcept {
  return trap(entry, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(handle));
    *out = property(*tensor);
    return ok();
  });
}

// One of `values`, which are counted from the end when `d` is negative.
Status pick(std::span<const std::int64_t> values, std::int64_t d,
            std::int64_t* out) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (d < -count || d >= count)
    return fail(Code::kInvalidArgument, "dimension ", d,
                " of a tensor that has ", count);
  *out = values[static_cast<std::size_t>(d < 0 ? d + count : d)];
  return ok();
}

}  // namespace

std::int32_t aoti_berth_get_data_ptr(AtenTensorHandle tensor, void** out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.data(); });
}

std::int32_t aoti_berth_get_storage_size(AtenTensorHandle tensor,
                                         std::int64_t* out) {
  return read(__func__, tensor, out, [](const Tensor& self) {
    return static_cast<std::int64_t>(self.storage_size_bytes());
  });
}

std::int32_t aoti_berth_get_storage_numel(AtenTensorHandle tensor,
                                          std::int64_t* out) {
  return read(__func__, tensor, out, [](const Tensor& self) {
    return static_cast<std::int64_t>(self.storage_size_bytes() /
                                     berth::element_size(self.dtype()));
  });
}

std::int32_t aoti_berth_get_storage_offset(AtenTensorHandle tensor,
                                           std::int64_t* out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.storage_offset(); });
}

std::int32_t aoti_berth_get_dim(AtenTensorHandle tensor, std::int64_t* out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.dim(); });
}

std::int32_t aoti_berth_get_numel(AtenTensorHandle tensor, std::int64_t* out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.numel(); });
}

// torch's signature has no const; delegates only read.
std::int32_t aoti_berth_get_sizes(AtenTensorHandle tensor, std::int64_t** out) {
  return read(__func__, tensor, out, [](const Tensor& self) {
    return const_cast<std::int64_t*>(self.sizes().data());
  });
}

std::int32_t aoti_berth_get_strides(AtenTensorHandle tensor,
                                    std::int64_t** out) {
  return read(__func__, tensor, out, [](const Tensor& self) {
    return const_cast<std::int64_t*>(self.strides().data());
  });
}

std::int32_t aoti_berth_get_size(AtenTensorHandle tensor, std::int64_t d,
                                 std::int64_t* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* self, borrow(tensor));
    return pick(self->sizes(), d, out);
  });
}

std::int32_t aoti_berth_get_stride(AtenTensorHandle tensor, std::int64_t d,
                                   std::int64_t* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* self, borrow(tensor));
    return pick(self->strides(), d, out);
  });
}

std::int32_t aoti_berth_get_dtype(AtenTensorHandle tensor, std::int32_t* out) {
  return read(__func__, tensor, out, [](const Tensor& self) {
    return static_cast<std::int32_t>(self.dtype());
  });
}

std::int32_t aoti_berth_get_device_type(AtenTensorHandle tensor,
                                        std::int32_t* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* self, borrow(tensor));
    // model/input_probe.cpp relies on this: torch's does so, too.
    if (!self->has_storage()) [[unlikely]]
      return fail(Code::kInvalidArgument, "the tensor has no device");
    *out = aoti_berth_device_type_cpu();
    return ok();
  });
}

// torch's CPU has no index, which it writes as -1.
std::int32_t aoti_berth_get_device_index(AtenTensorHandle tensor,
                                         std::int32_t* out) {
  return read(__func__, tensor, out, [](const Tensor&) { return -1; });
}

std::int32_t aoti_berth_get_layout(AtenTensorHandle tensor, std::int32_t* out) {
  return read(__func__, tensor, out,
              [](const Tensor&) { return aoti_berth_layout_strided(); });
}

std::int32_t aoti_berth_is_contiguous(AtenTensorHandle tensor, bool* out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.is_contiguous(); });
}

std::int32_t aoti_berth_is_defined(AtenTensorHandle tensor, bool* out) {
  return read(__func__, tensor, out,
              [](const Tensor& self) { return self.has_storage(); });
}
