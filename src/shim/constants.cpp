#include "shim/functions.h"

#define BERTH_CONSTANT(name, value) \
  std::int32_t aoti_berth_##name() { return value; }
#include "shim/constants.inc"
#undef BERTH_CONSTANT

std::size_t aoti_berth_dtype_element_size(std::int32_t dtype) {
  return berth::element_size(static_cast<berth::DType>(dtype));
}

// The version of libtorch that Berth stands in for: 2.13.0, a byte each.
std::uint64_t aoti_berth_abi_version() {
  return std::uint64_t{2} << 56 | std::uint64_t{13} << 48;
}
