// Zip archives for tests, written byte by byte so that each can be spoiled.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace berth::pack {

// One entry, as its headers are to describe it.
struct ZipEntry {
  std::string name;
  std::string data;
  bool is_zip64 = false;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t size = 0;  // Unpacked, where it is to differ from the data's.
};

// Writes stored entries; nothing is compressed whatever `method` says.
class ZipWriter {
 public:
  void add(const ZipEntry& entry) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    put32(0x04034b50);
    describe(entry);
    put16(entry.is_zip64 ? 20 : 0);
    append(entry.name);
    if (entry.is_zip64) extra(entry);
    append(entry.data);
    lines_.push_back({entry, offset});
  }
  void add(std::string name, std::string data) {
    ZipEntry entry;
    entry.name = std::move(name);
    entry.data = std::move(data);
    add(entry);
  }

  std::vector<std::byte> finish() {
    const auto start = static_cast<std::uint32_t>(bytes_.size());
    for (const auto& [entry, offset] : lines_) {
      put32(0x02014b50);
      put16(45);
      describe(entry);
      put16(entry.is_zip64 ? 20 : 0);
      for (int i = 0; i < 3; ++i) put16(0);
      put32(0);
      put32(offset);
      append(entry.name);
      if (entry.is_zip64) extra(entry);
    }
    const auto size = static_cast<std::uint32_t>(bytes_.size()) - start;
    put32(0x06054b50);
    put32(0);
    put16(static_cast<std::uint16_t>(lines_.size()));
    put16(static_cast<std::uint16_t>(lines_.size()));
    put32(size);
    put32(start);
    put16(0);
    std::vector<std::byte> bytes(bytes_.size());
    std::memcpy(bytes.data(), bytes_.data(), bytes_.size());
    return bytes;
  }

 private:
  struct Line {
    ZipEntry entry;
    std::uint32_t offset;
  };

  static std::uint32_t size_of(const ZipEntry& entry) {
    return entry.size != 0 ? entry.size
                           : static_cast<std::uint32_t>(entry.data.size());
  }

  // What the local header and the directory's line have in common, up to the
  // length of the extra field.
  void describe(const ZipEntry& entry) {
    put16(45);
    put16(entry.flags);
    put16(entry.method);
    put32(0);
    put32(static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(entry.data.data()),
                entry.data.size())));
    put32(entry.is_zip64 ? ~0u : static_cast<std::uint32_t>(entry.data.size()));
    put32(entry.is_zip64 ? ~0u : size_of(entry));
    put16(static_cast<std::uint16_t>(entry.name.size()));
  }

  void extra(const ZipEntry& entry) {
    put16(1);
    put16(16);
    put32(size_of(entry));
    put32(0);
    put32(static_cast<std::uint32_t>(entry.data.size()));
    put32(0);
  }

  void append(std::string_view text) { bytes_ += text; }
  void put16(std::uint16_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put32(std::uint32_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  std::string bytes_;
  std::vector<Line> lines_;
};

inline std::string text_of(base::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace berth::pack
