// The tensors that a user names on the command line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/tensor.h"
#include "cli/npz.h"

namespace berth::cli {

// One tensor for each .npy, and for each .npz as many as are in it, in order.
// Which one a file is, its first bytes tell.
Result<std::vector<Tensor>> read_arrays(std::span<const std::string> paths,
                                        ExpectedTypes expected = {});

// To one file where `path` ends in ".npz"; else to a directory, made where it
// is missing, as out0.npy, out1.npy and so on.
Status write_arrays(const std::string& path, std::span<const Tensor> tensors);

}  // namespace berth::cli
