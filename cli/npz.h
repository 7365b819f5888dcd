// NumPy's .npz: a zip archive of .npy files, stored or deflated.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.savez.html
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::cli {

// What each array is expected to be, in order, for raw bytes (npy.h); fewer
// than there are arrays leave the rest to themselves.
using ExpectedTypes = std::span<const std::optional<DType>>;

// True when the file at `path` is a zip archive by its first bytes.
bool is_zip(const std::string& path);

// The archive's arrays in its order, whatever their names. Fails as parse_npy()
// does, naming the entry, and with kCorrupt for a broken archive.
Result<std::vector<Tensor>> read_npz(const std::string& path,
                                     ExpectedTypes expected = {});

// As numpy.savez does: arr_0.npy, arr_1.npy and so on, stored. Equal tensors
// make equal files.
Status write_npz(const std::string& path, std::span<const Tensor> tensors);

}  // namespace berth::cli
