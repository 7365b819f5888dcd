#include "elements.h"

#include <algorithm>
#include <iterator>

namespace berth::python {
namespace {

struct Row {
  DType dtype;
  char kind;  // 'i', 'u', 'f', 'c' or '?', else none of the buffer protocol's.
  const char* format;
  DLDataTypeCode code;
};

constexpr Row kRows[] = {
    {DType::kUInt8, 'u', "B", kDLUInt},
    {DType::kInt8, 'i', "b", kDLInt},
    {DType::kInt16, 'i', "h", kDLInt},
    {DType::kInt32, 'i', "i", kDLInt},
    {DType::kInt64, 'i', "q", kDLInt},
    {DType::kFloat16, 'f', "e", kDLFloat},
    {DType::kFloat32, 'f', "f", kDLFloat},
    {DType::kFloat64, 'f', "d", kDLFloat},
    {DType::kComplex32, '\0', nullptr, kDLComplex},
    {DType::kComplex64, 'c', "Zf", kDLComplex},
    {DType::kComplex128, 'c', "Zd", kDLComplex},
    {DType::kBool, '?', "?", kDLBool},
    {DType::kBFloat16, '\0', nullptr, kDLBfloat},
    {DType::kFloat8E5M2, '\0', nullptr, kDLFloat8_e5m2},
    {DType::kFloat8E4M3FN, '\0', nullptr, kDLFloat8_e4m3fn},
    {DType::kFloat8E5M2FNUZ, '\0', nullptr, kDLFloat8_e5m2fnuz},
    {DType::kFloat8E4M3FNUZ, '\0', nullptr, kDLFloat8_e4m3fnuz},
    {DType::kUInt16, 'u', "H", kDLUInt},
    {DType::kUInt32, 'u', "I", kDLUInt},
    {DType::kUInt64, 'u', "Q", kDLUInt},
};

template <typename Matches>
std::optional<DType> find(Matches matches) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), matches);
  if (row == std::end(kRows)) return std::nullopt;
  return row->dtype;
}

// Every DType has one.
const Row& row_of(DType dtype) {
  return *std::find_if(std::begin(kRows), std::end(kRows),
                       [&](const Row& row) { return row.dtype == dtype; });
}

bool among(std::string_view letters, char letter) {
  return letters.find(letter) != letters.npos;
}

// Sizes differ with the platform and with the format's first character, so only
// the kind is taken from it. '\0' for anything but one number.
char kind_of(std::string_view format) {
  if (!format.empty() && among("@=<^", format[0])) format.remove_prefix(1);
  if (format == "Zf" || format == "Zd") return 'c';
  if (format.size() != 1) return '\0';
  if (among("bhilqn", format[0])) return 'i';
  if (among("BHILQN", format[0])) return 'u';
  if (among("efd", format[0])) return 'f';
  return format[0] == '?' ? '?' : '\0';
}

}  // namespace

std::optional<DType> dtype_of_format(std::string_view format,
                                     std::size_t item_size) {
  const char kind = kind_of(format);
  if (kind == '\0') return std::nullopt;
  return find([&](const Row& row) {
    return row.kind == kind && element_size(row.dtype) == item_size;
  });
}

std::optional<DType> dtype_of_dlpack(DLDataType type) {
  if (type.lanes != 1) return std::nullopt;
  return find([&](const Row& row) {
    return row.code == type.code && element_size(row.dtype) * 8 == type.bits;
  });
}

std::optional<DType> dtype_of_name(std::string_view name) {
  return find([&](const Row& row) { return to_string(row.dtype) == name; });
}

DLDataType dlpack_of(DType dtype) {
  return {row_of(dtype).code,
          static_cast<std::uint8_t>(element_size(dtype) * 8), 1};
}

DType unsigned_of(std::size_t item_size) {
  return *find([&](const Row& row) {
    return row.kind == 'u' && element_size(row.dtype) == item_size;
  });
}

const char* format_of(DType dtype) { return row_of(dtype).format; }

}  // namespace berth::python
