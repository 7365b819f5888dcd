#include "cli/npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace berth::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // Of the data, as NumPy writes it.

struct Type {
  std::string_view descr;
  DType dtype;
};

constexpr std::array kTypes = {
    Type{"|b1", DType::kBool},      Type{"|u1", DType::kUInt8},
    Type{"|i1", DType::kInt8},      Type{"<u2", DType::kUInt16},
    Type{"<i2", DType::kInt16},     Type{"<u4", DType::kUInt32},
    Type{"<i4", DType::kInt32},     Type{"<u8", DType::kUInt64},
    Type{"<i8", DType::kInt64},     Type{"<f2", DType::kFloat16},
    Type{"<f4", DType::kFloat32},   Type{"<f8", DType::kFloat64},
    Type{"<c8", DType::kComplex64}, Type{"<c16", DType::kComplex128},
    Type{"|V2", DType::kBFloat16},  Type{"<V2", DType::kBFloat16},
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

Result<DType> read_type(std::string_view header) {
  BERTH_TRY(std::string_view text, after(header, "'descr':"));
  if (text.empty() || text.front() != '\'')
    return fail(Code::kUnsupported, "structured types are not supported");
  text.remove_prefix(1);
  text = text.substr(0, text.find('\''));
  for (const Type& type : kTypes) {
    if (type.descr == text) return type.dtype;
  }
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

Result<Tensor> parse(std::ifstream& file) {
  std::array<char, 8> head{};
  if (!file.read(head.data(), head.size()) ||
      std::string_view(head.data(), kMagic.size()) != kMagic)
    return fail(Code::kCorrupt, "not a .npy file");
  const int version = head[6];
  if (version < 1 || version > 3)
    return fail(Code::kUnsupported, ".npy version ", version,
                " is not supported");
  std::uint32_t length = 0;
  file.read(reinterpret_cast<char*>(&length), version == 1 ? 2 : 4);
  constexpr std::uint32_t kLongestHeader = 1u << 20;
  if (!file || length > kLongestHeader)
    return fail(Code::kCorrupt, "the header should have at most ",
                kLongestHeader, " bytes, it says ", length);
  std::string header(length, '\0');
  if (!file.read(header.data(), length))
    return fail(Code::kCorrupt, "the header of ", length, " bytes is cut off");

  BERTH_TRY(const DType dtype, read_type(header));
  BERTH_TRY(const auto shape, read_shape(header));
  BERTH_TRY(const std::string_view order, after(header, "'fortran_order':"));
  std::vector<std::int64_t> sizes = shape;
  const bool column_major = order.starts_with("True") && shape.size() > 1;
  if (column_major) sizes.assign(shape.rbegin(), shape.rend());
  BERTH_TRY(Tensor tensor, Tensor::empty(sizes, dtype));
  const auto size_bytes = static_cast<std::streamsize>(tensor.size_bytes());
  if (!file.read(static_cast<char*>(tensor.data()), size_bytes))
    return fail(Code::kCorrupt, "the shape needs ", size_bytes,
                " bytes of data, found ", file.gcount());
  if (!column_major) return tensor;
  // Read as its transpose; seen the right way round, then copied.
  std::vector<std::int64_t> strides(tensor.strides().rbegin(),
                                    tensor.strides().rend());
  BERTH_TRY(const Tensor view, tensor.view(shape, strides, 0));
  return view.clone();
}

}  // namespace

Result<Tensor> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kNotFound, "cannot open '", path, "'");
  return noted(parse(file), "reading '" + path + "'");
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  std::string_view descr;
  for (const Type& type : kTypes) {
    if (type.dtype != tensor.dtype()) continue;
    descr = type.descr;
    break;
  }
  if (descr.empty())
    return fail(Code::kUnsupported, ".npy has no type for ",
                to_string(tensor.dtype()));
  std::string header = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : tensor.sizes())
    header += std::to_string(size) + ",";
  header += "), }";
  // Magic, version and length are 10 bytes; the header ends in a newline.
  while ((10 + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());

  BERTH_TRY(const Tensor packed, tensor.clone());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(kMagic.data(), static_cast<std::streamsize>(kMagic.size()));
  file.write("\x01\x00", 2);
  file.write(reinterpret_cast<const char*>(&length), 2);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(static_cast<const char*>(packed.data()),
             static_cast<std::streamsize>(packed.size_bytes()));
  file.close();
  if (!file) return fail(Code::kSystem, "cannot write '", path, "'");
  return ok();
}

}  // namespace berth::cli
