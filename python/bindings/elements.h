// Element types as the buffer protocol and DLPack write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/dtype.h"
#include "dlpack_abi.h"

namespace berth::python {

// Of a buffer's format and the size of its elements; nothing when Berth has
// none such, or when its bytes are in the other order.
std::optional<DType> dtype_of_format(std::string_view format,
                                     std::size_t item_size);
std::optional<DType> dtype_of_dlpack(DLDataType type);

DLDataType dlpack_of(DType dtype);

// By torch's name, "float32".
std::optional<DType> dtype_of_name(std::string_view name);

// Unsigned integers of that many bytes: 1, 2, 4 or 8.
DType unsigned_of(std::size_t item_size);

// The buffer's format, or null where the protocol has none.
const char* format_of(DType dtype);

}  // namespace berth::python
