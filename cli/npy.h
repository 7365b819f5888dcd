// NumPy's .npy files, versions 1 and 2, as tensors.
//
// Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::cli {

// Reads a file into memory of the tensor's own, row-major. Fails with
// kNotFound, kCorrupt (not .npy, or cut short) and kUnsupported (big-endian,
// objects, structured types).
Result<Tensor> read_npy(const std::string& path);

// Writes `tensor`, row-major. bfloat16, for which NumPy has no type, is written
// as two raw bytes an element ("V2"), which read_npy() reads back.
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace berth::cli
