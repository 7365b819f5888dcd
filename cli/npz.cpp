#include "cli/npz.h"

#include <unzip.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>

#include "cli/npy.h"

namespace berth::cli {
namespace {

// As much as minizip takes in one call is less than an array may have.
constexpr std::size_t kChunk = std::size_t{1} << 26;

struct CloseReader {
  void operator()(unzFile file) const { unzClose(file); }
};
struct CloseWriter {
  void operator()(zipFile file) const { zipClose(file, nullptr); }
};
using Reader = std::unique_ptr<void, CloseReader>;
using Writer = std::unique_ptr<void, CloseWriter>;

struct Entry {
  std::string name;
  unz_file_info64 info{};
};

Result<Entry> current_entry(unzFile zip) {
  Entry entry;
  if (unzGetCurrentFileInfo64(zip, &entry.info, nullptr, 0, nullptr, 0, nullptr,
                              0) != UNZ_OK)
    return fail(Code::kCorrupt, "the archive's directory is broken");
  entry.name.resize(entry.info.size_filename);
  unzGetCurrentFileInfo64(zip, &entry.info, entry.name.data(),
                          entry.name.size(), nullptr, 0, nullptr, 0);
  return entry;
}

Result<std::vector<std::byte>> read_entry(unzFile zip,
                                          const unz_file_info64& info) {
  constexpr unsigned kEncrypted = 1;
  // Deflate packs no tighter: what claims more is not worth the memory.
  constexpr std::uint64_t kMostExpansion = 1040;
  if ((info.flag & kEncrypted) != 0)
    return fail(Code::kUnsupported, "the entry is encrypted");
  if (info.uncompressed_size / kMostExpansion > info.compressed_size)
    return fail(Code::kCorrupt, "the entry has ", info.compressed_size,
                " bytes and claims to hold ", info.uncompressed_size);
  if (unzOpenCurrentFile(zip) != UNZ_OK)
    return fail(Code::kCorrupt, "the entry cannot be opened, its method is ",
                info.compression_method);
  std::vector<std::byte> bytes(info.uncompressed_size);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto size =
        static_cast<unsigned>(std::min(kChunk, bytes.size() - done));
    const int count = unzReadCurrentFile(zip, bytes.data() + done, size);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  const int closed = unzCloseCurrentFile(zip);
  if (done < bytes.size())
    return fail(Code::kCorrupt, "the entry should hold ", bytes.size(),
                " bytes, found ", done);
  if (closed == UNZ_CRCERROR)
    return fail(Code::kCorrupt, "the entry's checksum is wrong");
  return bytes;
}

Result<std::vector<Tensor>> read_entries(unzFile zip, ExpectedTypes expected) {
  std::vector<Tensor> tensors;
  unz_global_info64 all{};
  unzGetGlobalInfo64(zip, &all);
  while (tensors.size() < all.number_entry) {
    const int status =
        tensors.empty() ? unzGoToFirstFile(zip) : unzGoToNextFile(zip);
    if (status != UNZ_OK)
      return fail(Code::kCorrupt, "the archive's directory is broken after ",
                  tensors.size(), " of ", all.number_entry, " entries");
    BERTH_TRY(const Entry entry, current_entry(zip));
    const std::string doing = "reading entry '" + entry.name + "'";
    BERTH_TRY(const auto bytes, noted(read_entry(zip, entry.info), doing));
    const std::size_t i = tensors.size();
    BERTH_TRY(Tensor tensor,
              noted(parse_npy(bytes,
                              i < expected.size() ? expected[i] : std::nullopt),
                    doing));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status write_entry(zipFile zip, const std::string& name,
                   std::span<const std::byte> bytes) {
  constexpr int kStored = 0;
  constexpr std::size_t kZip64From = 0xffffffff;
  zip_fileinfo info{};
  info.dosDate = 1u << 21 | 1u << 16;  // The first of January 1980.
  if (zipOpenNewFileInZip64(zip, name.c_str(), &info, nullptr, 0, nullptr, 0,
                            nullptr, kStored, 0,
                            bytes.size() >= kZip64From) != ZIP_OK)
    return fail(Code::kSystem, "cannot begin entry '", name, "'");
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(kChunk, bytes.size()));
    if (zipWriteInFileInZip(zip, part.data(),
                            static_cast<unsigned>(part.size())) != ZIP_OK)
      return fail(Code::kSystem, "cannot write entry '", name, "'");
    bytes = bytes.subspan(part.size());
  }
  if (zipCloseFileInZip(zip) != ZIP_OK)
    return fail(Code::kSystem, "cannot finish entry '", name, "'");
  return ok();
}

}  // namespace

bool is_zip(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head{};
  file.read(head.data(), head.size());
  // An archive without entries begins with its end.
  return file && (std::memcmp(head.data(), "PK\3\4", 4) == 0 ||
                  std::memcmp(head.data(), "PK\5\6", 4) == 0);
}

Result<std::vector<Tensor>> read_npz(const std::string& path,
                                     ExpectedTypes expected) {
  const std::string doing = "reading '" + path + "'";
  const Reader zip(unzOpen64(path.c_str()));
  if (!zip)
    return noted(Result<std::vector<Tensor>>(fail(
                     Code::kCorrupt,
                     "not a zip archive with arrays in it, or one cut short")),
                 doing);
  return noted(read_entries(zip.get(), expected), doing);
}

Status write_npz(const std::string& path, std::span<const Tensor> tensors) {
  const std::string doing = "writing '" + path + "'";
  Writer zip(zipOpen64(path.c_str(), APPEND_STATUS_CREATE));
  if (!zip) return fail(Code::kSystem, "cannot write '", path, "'");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    BERTH_TRY(const auto bytes, npy_bytes(tensors[i]));
    const std::string name = "arr_" + std::to_string(i) + ".npy";
    BERTH_CHECK(noted(write_entry(zip.get(), name, bytes), doing));
  }
  if (zipClose(zip.release(), nullptr) != ZIP_OK)
    return fail(Code::kSystem, "cannot finish '", path, "'");
  return ok();
}

}  // namespace berth::cli
