#include "berth/signature.h"

#include <limits>

namespace berth {

std::string TensorSpec::to_string() const {
  std::string text = "'" + name + "'";
  if (!path.empty()) text += " " + path;
  if (!is_known) return text;
  text += std::string(": ") + berth::to_string(dtype) + " [";
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(sizes[d].least);
    if (sizes[d].is_fixed()) continue;
    text += "..";
    if (sizes[d].most != std::numeric_limits<std::int64_t>::max())
      text += std::to_string(sizes[d].most);
  }
  return text + "]";
}

}  // namespace berth
