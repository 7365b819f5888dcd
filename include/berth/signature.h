// What a model takes and gives, as far as its library tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/dtype.h"
#include "berth/export.h"

namespace berth {

// The sizes that one dimension may have, both ends included. A value.
// Units    elements.
struct SizeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;

  bool is_fixed() const noexcept { return least == most; }
  bool contains(std::int64_t size) const noexcept {
    return least <= size && size <= most;
  }
};

// One input or output. A value.
// Units    sizes and strides count elements.
struct BERTH_API TensorSpec {
  // Stands in `strides` where the stride depends on sizes that are not fixed.
  static constexpr std::int64_t kVaries = -1;

  // The library's own name, for example "arg0_1".
  std::string name;

  // Where the exported module had it, as torch writes such a path: "[0]" is the
  // first argument, "['mask']" the one of that name, "[1]['w']" the entry "w"
  // of a dict that is the second argument. Empty when the library does not say.
  std::string path;

  // Whether the library tells what follows. It does of inputs when torch
  // compiled its checks into it (the default), and of outputs never.
  bool is_known = false;
  DType dtype = DType::kFloat32;
  std::vector<SizeRange> sizes;       // One a dimension.
  std::vector<std::int64_t> strides;  // One a dimension, or kVaries.

  // "'arg0_1' [0]: float32 [2..64, 512]", without what is not known.
  std::string to_string() const;
};

// How the flat lists of inputs and outputs nest in the arguments and the result
// of the exported module: torch's own JSON for each, empty when the library has
// none. The inputs' is a tuple of the positional arguments (a tuple) and of the
// named ones (a dict). What is not a tensor, None for example, is in it and not
// among the inputs.
//
// Format: torch.utils._pytree.treespec_dumps, protocol 1.
struct CallSpec {
  std::string inputs;
  std::string outputs;
};

}  // namespace berth
