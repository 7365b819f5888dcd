#include "cli/npz.h"

#include <gmock/gmock.h>
#include <zip.h>

#include <cstring>
#include <filesystem>

#include "cli/arrays.h"
#include "cli/files.h"
#include "cli/npy.h"

namespace berth::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor counted(std::vector<std::int64_t> sizes, std::uint8_t first) {
  Tensor tensor = *Tensor::empty(sizes, DType::kUInt8);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    static_cast<std::uint8_t*>(tensor.data())[i] =
        static_cast<std::uint8_t>(first + i);
  return tensor;
}

std::vector<int> values(const Tensor& tensor) {
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.data());
  return {bytes, bytes + tensor.size_bytes()};
}

class Npz : public testing::Test {
 protected:
  Npz() { std::filesystem::create_directories(folder_); }
  ~Npz() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  std::vector<std::byte> written() const {
    const Tensor tensors[] = {counted({2, 3}, 1), counted({2}, 7)};
    EXPECT_TRUE(write_npz(at("a.npz"), tensors).has_value());
    return *read_file(at("a.npz"));
  }

  // The error's text of reading `bytes`.
  std::string refusal(const std::vector<std::byte>& bytes,
                      Code code = Code::kCorrupt) const {
    EXPECT_TRUE(write_file(at("b.npz"), bytes).has_value());
    const auto read = read_npz(at("b.npz"));
    if (read.has_value()) return "read";
    EXPECT_EQ(read.error().code(), code) << read.error();
    return read.error().to_string();
  }

  std::string folder_ = testing::TempDir() + "berth_npz_test";
};

TEST_F(Npz, WhatIsWrittenIsReadBackInOrder) {
  written();
  const auto read = read_npz(at("a.npz"));
  ASSERT_TRUE(read.has_value()) << read.error();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_THAT((*read)[0].sizes(), ElementsAre(2, 3));
  EXPECT_THAT(values((*read)[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values((*read)[1]), ElementsAre(7, 8));
}

TEST_F(Npz, EqualTensorsMakeEqualFiles) { EXPECT_EQ(written(), written()); }

TEST_F(Npz, AnArchiveWithoutArraysIsRefused) {
  ASSERT_TRUE(write_npz(at("none.npz"), {}).has_value());
  EXPECT_TRUE(is_zip(at("none.npz")));
  EXPECT_THAT(refusal(*read_file(at("none.npz"))), HasSubstr("arrays in it"));
}

TEST_F(Npz, DeflatedEntriesAreReadWhateverTheirNames) {
  const zipFile zip = zipOpen64(at("c.npz").c_str(), APPEND_STATUS_CREATE);
  const zip_fileinfo info{};
  const auto bytes = *npy_bytes(counted({100}, 0));
  zipOpenNewFileInZip64(zip, "mask", &info, nullptr, 0, nullptr, 0, nullptr,
                        Z_DEFLATED, 6, 1);
  zipWriteInFileInZip(zip, bytes.data(), static_cast<unsigned>(bytes.size()));
  zipCloseFileInZip(zip);
  zipClose(zip, nullptr);
  const auto read = read_npz(at("c.npz"));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(values(read->front()), values(counted({100}, 0)));
}

TEST_F(Npz, SpoiledArchivesAreRefusedWithAReason) {
  const auto sound = written();
  auto bytes = sound;
  bytes.resize(bytes.size() - 40);
  EXPECT_THAT(refusal(bytes), HasSubstr("cut short"));

  // The last byte of the first array's data.
  const std::size_t data = 30 + std::strlen("arr_0.npy") + 128 + 5;
  bytes = sound;
  bytes[data] ^= std::byte{1};
  EXPECT_THAT(refusal(bytes), AllOf(HasSubstr("checksum is wrong"),
                                    HasSubstr("entry 'arr_0.npy'")));

  // The second entry's record in the directory: where its name ends.
  bytes = sound;
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  const std::size_t record = text.rfind("arr_1.npy") - 46;
  bytes[record + 24 + 3] = std::byte{0x7f};  // Its size, unpacked.
  EXPECT_THAT(refusal(bytes), HasSubstr("claims to hold"));
  bytes = sound;
  bytes[record + 8] = std::byte{1};  // Flags.
  EXPECT_THAT(refusal(bytes, Code::kUnsupported), HasSubstr("encrypted"));
  bytes = sound;
  bytes[record + 10] = std::byte{99};  // Method.
  EXPECT_THAT(refusal(bytes), HasSubstr("cannot be opened, its method is 99"));
  bytes = sound;
  bytes[record] = std::byte{0};
  EXPECT_THAT(refusal(bytes), HasSubstr("broken after 1 of 2 entries"));
}

TEST_F(Npz, NothingIsWrittenWhereNothingCanBe) {
  const Tensor tensors[] = {counted({1}, 0)};
  const auto status = write_npz(at("no/such/folder.npz"), tensors);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kSystem);
}

TEST_F(Npz, FilesOfBothKindsGiveTheirArraysInOrder) {
  written();
  ASSERT_TRUE(write_npy(at("x.npy"), counted({1}, 42)).has_value());
  const std::string paths[] = {at("x.npy"), at("a.npz"), at("x.npy")};
  const auto read = read_arrays(paths);
  ASSERT_TRUE(read.has_value()) << read.error();
  ASSERT_EQ(read->size(), 4u);
  EXPECT_THAT(values((*read)[2]), ElementsAre(7, 8));
  EXPECT_THAT(values((*read)[3]), ElementsAre(42));
}

TEST_F(Npz, RawBytesBecomeWhatIsExpectedInTheirPlace) {
  const std::int64_t sizes[] = {1};
  const Tensor tensors[] = {*Tensor::empty(sizes, DType::kFloat8E5M2),
                            *Tensor::empty(sizes, DType::kBFloat16),
                            *Tensor::empty(sizes, DType::kFloat8E4M3FN)};
  ASSERT_TRUE(write_npz(at("a.npz"), tensors).has_value());
  const std::string paths[] = {at("a.npz")};
  const std::optional<DType> expected[] = {DType::kFloat8E5M2, std::nullopt,
                                           DType::kFloat8E4M3FN};
  const auto read = read_arrays(paths, expected);
  ASSERT_TRUE(read.has_value()) << read.error();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ((*read)[i].dtype(), tensors[i].dtype());
  EXPECT_FALSE(read_arrays(paths).has_value());
}

TEST_F(Npz, OutputsGoToAnArchiveOrADirectory) {
  const Tensor tensors[] = {counted({2}, 1)};
  ASSERT_TRUE(write_arrays(at("made/deep"), tensors).has_value());
  EXPECT_THAT(values(*read_npy(at("made/deep/out0.npy"))), ElementsAre(1, 2));
  ASSERT_TRUE(write_arrays(at("made.npz"), tensors).has_value());
  EXPECT_THAT(values(read_npz(at("made.npz"))->front()), ElementsAre(1, 2));
}

}  // namespace
}  // namespace berth::cli
