#include "cli/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "cli/files.h"

namespace berth::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // Of the data, as NumPy writes it.

struct Type {
  std::string_view descr;
  DType dtype;
};

constexpr std::array kTypes = {
    Type{"|b1", DType::kBool},       Type{"|u1", DType::kUInt8},
    Type{"|i1", DType::kInt8},       Type{"<u2", DType::kUInt16},
    Type{"<i2", DType::kInt16},      Type{"<u4", DType::kUInt32},
    Type{"<i4", DType::kInt32},      Type{"<u8", DType::kUInt64},
    Type{"<i8", DType::kInt64},      Type{"<f2", DType::kFloat16},
    Type{"<f4", DType::kFloat32},    Type{"<f8", DType::kFloat64},
    Type{"<c8", DType::kComplex64},  Type{"<c16", DType::kComplex128},
    Type{"<f1", DType::kFloat8E5M2},  // As ml_dtypes has it.
};

// What NumPy lacks, written as raw bytes; the first of a size is what they are
// when nothing is expected.
constexpr std::array kRawTypes = {
    DType::kBFloat16,   DType::kComplex32,      DType::kFloat8E4M3FN,
    DType::kFloat8E5M2, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ,
};

// The text after `key` in the header's dictionary, for example after
// "'descr':".
Result<std::string_view> after(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos)
    return fail(Code::kCorrupt, "the header lacks ", key);
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" "), rest.size()));
  return rest;
}

// What raw bytes, for example "V2", are taken for.
Result<DType> raw_type(std::string_view text, std::optional<DType> expected) {
  std::size_t width = 0;
  std::from_chars(text.data() + 1, text.data() + text.size(), width);
  if (expected && element_size(*expected) == width &&
      std::ranges::count(kRawTypes, *expected) != 0)
    return *expected;
  if (width == element_size(DType::kBFloat16)) return DType::kBFloat16;
  return fail(Code::kInvalidArgument, "elements of ", width, " raw bytes ('",
              text, "') are read only where ",
              width == 1 ? "a float8" : "such a type", " is expected",
              expected ? std::string(", not ") + to_string(*expected) : "");
}

Result<DType> read_type(std::string_view header,
                        std::optional<DType> expected) {
  BERTH_TRY(std::string_view text, after(header, "'descr':"));
  if (text.empty() || text.front() != '\'')
    return fail(Code::kUnsupported, "structured types are not supported");
  text.remove_prefix(1);
  text = text.substr(0, text.find('\''));
  for (const Type& type : kTypes) {
    if (type.descr == text) return type.dtype;
  }
  if (text.starts_with("|V") || text.starts_with("<V"))
    return raw_type(text.substr(1), expected);
  return fail(Code::kUnsupported, "elements of type '", text,
              "' are not supported");
}

Result<std::vector<std::int64_t>> read_shape(std::string_view header) {
  BERTH_TRY(std::string_view text, after(header, "'shape':"));
  const std::size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos)
    return fail(Code::kCorrupt, "the shape should be a tuple, found '",
                text.substr(0, 20), "'");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t size = 0;
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      return fail(Code::kCorrupt, "the shape should hold sizes, found '",
                  text.substr(0, 20), "'");
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return shape;
}

// Takes the first `count` bytes off `bytes`; nothing when there are fewer.
std::optional<std::span<const std::byte>> take(
    std::span<const std::byte>& bytes, std::size_t count) {
  if (count > bytes.size()) return std::nullopt;
  const auto taken = bytes.first(count);
  bytes = bytes.subspan(count);
  return taken;
}

// The dictionary's text, taken off `bytes`.
Result<std::string_view> take_header(std::span<const std::byte>& bytes) {
  constexpr std::size_t kVersionSize = 2;
  const auto head = take(bytes, kMagic.size() + kVersionSize);
  if (!head || std::memcmp(head->data(), kMagic.data(), kMagic.size()) != 0)
    return fail(Code::kCorrupt, "not a .npy file");
  const auto version = std::to_integer<int>((*head)[kMagic.size()]);
  if (version < 1 || version > 3)
    return fail(Code::kUnsupported, ".npy version ", version,
                " is not supported");
  std::uint32_t length = 0;
  const auto field = take(bytes, version == 1 ? 2 : 4);
  if (!field) return fail(Code::kCorrupt, "the header's length is cut off");
  std::memcpy(&length, field->data(), field->size());
  const auto text = take(bytes, length);
  if (!text)
    return fail(Code::kCorrupt, "the header of ", length, " bytes is cut off, ",
                bytes.size(), " are there");
  return std::string_view(reinterpret_cast<const char*>(text->data()), length);
}

// Known before any memory is asked for: a file may claim any shape.
Status check_size(std::span<const std::int64_t> shape, DType dtype,
                  std::size_t found) {
  std::uint64_t needed = element_size(dtype);
  bool is_too_much = false;
  for (const std::int64_t size : shape)
    is_too_much |= __builtin_mul_overflow(needed, size, &needed);
  if (is_too_much || needed > found)
    return fail(Code::kCorrupt, "the shape needs ",
                is_too_much ? "2^64 or more" : std::to_string(needed),
                " bytes of data, found ", found);
  return ok();
}

// "{'descr': ..., }" behind magic, version and length, padded as NumPy does.
std::string header_of(const Tensor& tensor, std::string_view descr) {
  constexpr std::size_t kBefore = 10;
  std::string header = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : tensor.sizes())
    header += std::to_string(size) + ",";
  header += "), }";
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string before(kMagic);
  before += {'\1', '\0', static_cast<char>(length & 0xff),
             static_cast<char>(length >> 8)};
  return before + header;
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> bytes,
                         std::optional<DType> expected) {
  BERTH_TRY(const std::string_view header, take_header(bytes));
  BERTH_TRY(const DType dtype, read_type(header, expected));
  BERTH_TRY(const auto shape, read_shape(header));
  BERTH_TRY(const std::string_view order, after(header, "'fortran_order':"));
  BERTH_CHECK(check_size(shape, dtype, bytes.size()));
  std::vector<std::int64_t> sizes = shape;
  const bool column_major = order.starts_with("True") && shape.size() > 1;
  if (column_major) sizes.assign(shape.rbegin(), shape.rend());
  BERTH_TRY(Tensor tensor, Tensor::empty(sizes, dtype));
  if (tensor.size_bytes() > 0)
    std::memcpy(tensor.data(), bytes.data(), tensor.size_bytes());
  if (!column_major) return tensor;
  // Read as its transpose; seen the right way round, then copied.
  std::vector<std::int64_t> strides(tensor.strides().rbegin(),
                                    tensor.strides().rend());
  BERTH_TRY(const Tensor view, tensor.view(shape, strides, 0));
  return view.clone();
}

Result<std::vector<std::byte>> npy_bytes(const Tensor& tensor) {
  std::string descr;
  for (const Type& type : kTypes) {
    if (type.dtype == tensor.dtype()) descr = type.descr;
  }
  if (std::ranges::count(kRawTypes, tensor.dtype()) != 0)
    descr = "|V" + std::to_string(element_size(tensor.dtype()));
  if (descr.empty())
    return fail(Code::kUnsupported, ".npy has no type for ",
                to_string(tensor.dtype()));
  BERTH_TRY(const Tensor packed, tensor.clone());
  const std::string header = header_of(tensor, descr);
  std::vector<std::byte> bytes(header.size() + packed.size_bytes());
  std::memcpy(bytes.data(), header.data(), header.size());
  if (packed.size_bytes() > 0)
    std::memcpy(bytes.data() + header.size(), packed.data(),
                packed.size_bytes());
  return bytes;
}

Result<Tensor> read_npy(const std::string& path,
                        std::optional<DType> expected) {
  BERTH_TRY(const auto bytes, read_file(path));
  return noted(parse_npy(bytes, expected), "reading '" + path + "'");
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  BERTH_TRY(const auto bytes, npy_bytes(tensor));
  return write_file(path, bytes);
}

}  // namespace berth::cli
