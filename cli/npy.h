// NumPy's .npy format, versions 1 to 3, as tensors.
//
// NumPy has no bfloat16 and no float8; whoever saves them there writes raw
// bytes, "V2" and "V1". Two raw bytes are a bfloat16. One may be any of four
// types, so it is read only as the float8 that the reader expects.
//
// Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::cli {

// The tensor, row-major, in memory of its own. `expected` is what raw bytes are
// taken for where it has their size and NumPy lacks it; it converts nothing.
// Fails with kCorrupt (not .npy, or cut short), kUnsupported (big-endian,
// objects, structured types) and kInvalidArgument (raw bytes of no known type).
Result<Tensor> parse_npy(std::span<const std::byte> bytes,
                         std::optional<DType> expected = {});

// The file of `tensor`, row-major. What NumPy lacks becomes raw bytes.
Result<std::vector<std::byte>> npy_bytes(const Tensor& tensor);

// The same from and to a path, which errors name; also kNotFound and kSystem.
Result<Tensor> read_npy(const std::string& path,
                        std::optional<DType> expected = {});
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace berth::cli
