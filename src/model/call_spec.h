// Where a flat list of tensors stands in what the exported module took or gave.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

// The path of each leaf of `spec` (berth/signature.h), in order, as torch
// writes paths: "['pair'][0]". Empty when `spec` is not understood. Leaves that
// are no tensors count, too.
std::vector<std::string> output_paths(std::string_view spec);

// The same for inputs, whose spec is a tuple of positional and named arguments:
// "[0]" is the first argument, "['mask']" the one called mask.
std::vector<std::string> input_paths(std::string_view spec);

}  // namespace berth::model
