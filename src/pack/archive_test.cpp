#include "pack/archive.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <functional>

#include "pack/pack_testing.h"

namespace berth::pack {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

std::vector<std::byte> two_files() {
  ZipWriter zip;
  zip.add("a", "first");
  zip.add("folder/b", "");
  return zip.finish();
}

Result<std::string> content(base::Bytes bytes, std::string_view name) {
  BERTH_TRY(const Archive archive, Archive::open(Source(bytes)));
  const Entry* entry = archive.find(name);
  if (entry == nullptr) return fail(Code::kNotFound, "no ", name);
  BERTH_TRY(const auto read, archive.read(*entry));
  return text_of(read);
}

TEST(Archive, ListsItsEntriesInOrder) {
  const auto bytes = two_files();
  EXPECT_TRUE(Archive::is_archive(bytes));
  const auto archive = Archive::open(Source(bytes));
  ASSERT_TRUE(archive) << archive.error();
  EXPECT_THAT(archive->entries(), ElementsAre(Field(&Entry::name, "a"),
                                              Field(&Entry::name, "folder/b")));
  EXPECT_EQ(archive->find("b"), nullptr);
}

TEST(Archive, ReadsEachEntry) {
  const auto bytes = two_files();
  EXPECT_EQ(content(bytes, "a"), "first");
  EXPECT_EQ(content(bytes, "folder/b"), "");
}

TEST(Archive, ReadsAFileInPieces) {
  char path[] = "/tmp/berth-archive-XXXXXX";
  const base::Descriptor file(::mkstemp(path));
  const auto bytes = two_files();
  ASSERT_TRUE(
      base::write_all(file.get(), std::array{base::Bytes(bytes)}, path));
  auto source = Source::open(path);
  ASSERT_TRUE(source) << source.error();
  const auto archive = Archive::open(std::move(*source));
  ASSERT_TRUE(archive) << archive.error();
  EXPECT_EQ(text_of(*archive->read(archive->entries()[0])), "first");
  // Cut short meanwhile: an error, no signal.
  ASSERT_EQ(::ftruncate(file.get(), 10), 0);
  const auto cut = archive->read(archive->entries()[0]);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code(), Code::kCorrupt) << cut.error();
  ::unlink(path);
}

TEST(Archive, ReadsZip64) {
  ZipWriter zip;
  ZipEntry entry;
  entry.name = "large";
  entry.data = "not really";
  entry.is_zip64 = true;
  zip.add(entry);
  const auto bytes = zip.finish();
  const auto read = content(bytes, "large");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, "not really");
}

struct Spoiled {
  const char* name;
  std::function<std::vector<std::byte>()> make;
  Code code;
  const char* says;
};

std::vector<std::byte> with(const std::function<void(ZipEntry&)>& change) {
  ZipWriter zip;
  ZipEntry entry;
  entry.name = "a";
  entry.data = std::string(100, 'x');
  change(entry);
  zip.add(entry);
  return zip.finish();
}

std::vector<std::byte> with_byte(std::size_t from_end, unsigned char value) {
  auto bytes = two_files();
  bytes[bytes.size() - from_end] = std::byte{value};
  return bytes;
}

const Spoiled kSpoiled[] = {
    {"Empty", [] { return std::vector<std::byte>(); }, Code::kCorrupt,
     "reading the zip directory"},
    {"NoZip", [] { return std::vector<std::byte>(5000, std::byte{7}); },
     Code::kCorrupt, "reading the zip directory"},
    {"CutShort",
     [] {
       auto bytes = two_files();
       bytes.resize(bytes.size() - 30);
       return bytes;
     },
     Code::kCorrupt, "reading the zip directory"},
    {"OneEntryMoreThanThereIs",
     [] {
       auto bytes = with_byte(12, 3);  // On this disk, and in total.
       bytes[bytes.size() - 14] = std::byte{3};
       return bytes;
     },
     Code::kCorrupt, "reading the zip directory"},
    {"Encrypted", [] { return with([](ZipEntry& e) { e.flags = 1; }); },
     Code::kUnsupported, "entry 'a' is encrypted"},
    {"UnknownMethod", [] { return with([](ZipEntry& e) { e.method = 93; }); },
     Code::kUnsupported, "compressed by method 93"},
    {"StoredWithTwoSizes",
     [] { return with([](ZipEntry& e) { e.size = 1u << 30; }); },
     Code::kCorrupt, "has 100 bytes and says 1073741824"},
    {"Bomb",
     [] {
       return with([](ZipEntry& e) {
         e.method = 8;
         e.size = 1u << 30;
       });
     },
     Code::kCorrupt, "of 100 bytes says that it unpacks to 1073741824"},
    {"NoName", [] { return with([](ZipEntry& e) { e.name = ""; }); },
     Code::kCorrupt, "entry 0 has no name"},
    {"NotDeflated", [] { return with([](ZipEntry& e) { e.method = 8; }); },
     Code::kCorrupt, "reading entry 'a'"},
    {"TwiceTheSameName",
     [] {
       ZipWriter zip;
       zip.add("a", "1");
       zip.add("a", "2");
       return zip.finish();
     },
     Code::kCorrupt, "two entries are called 'a'"},
    {"WrongChecksum",
     [] {
       auto bytes = with([](ZipEntry&) {});
       bytes[40] = std::byte{'y'};
       return bytes;
     },
     Code::kCorrupt, "reading entry 'a' failed: CRC error"},
};

class ArchiveRejects : public testing::TestWithParam<Spoiled> {};

TEST_P(ArchiveRejects, WithCodeAndReason) {
  const auto bytes = GetParam().make();
  const auto read = content(bytes, "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), GetParam().code) << read.error();
  EXPECT_THAT(read.error().to_string(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Spoiled, ArchiveRejects, testing::ValuesIn(kSpoiled),
                         [](const auto& spoiled) {
                           return spoiled.param.name;
                         });

// Whatever byte is changed: an error or other bytes, never more.
TEST(Archive, SurvivesAnyChangedByte) {
  const auto sound = two_files();
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto bytes = sound;
      bytes[i] = static_cast<std::byte>(value);
      const auto archive = Archive::open(Source(bytes));
      if (!archive) continue;
      for (const Entry& entry : archive->entries()) (void)archive->read(entry);
    }
  }
}

}  // namespace
}  // namespace berth::pack
