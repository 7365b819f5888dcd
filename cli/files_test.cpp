#include "cli/files.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

namespace berth::cli {
namespace {

using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  ~Files() override { std::filesystem::remove(path_); }

  void write(std::string_view text) const {
    ASSERT_TRUE(write_file(path_, std::as_bytes(std::span(text))).has_value());
  }

  std::string path_ = testing::TempDir() + "berth_files_test";
};

TEST_F(Files, KindsAreToldByTheFirstBytes) {
  write("PK\3\4 and more");
  EXPECT_EQ(*kind_of(path_), FileKind::kPackage);
  write(
      "\x7f"
      "ELF and more");
  EXPECT_EQ(*kind_of(path_), FileKind::kLibrary);
  write(
      "\1\1\1\1"
      "ET12");
  EXPECT_EQ(*kind_of(path_), FileKind::kProgram);
  for (const char* other : {"", "PK",
                            "\x7f"
                            "EL",
                            "text that is nothing"}) {
    write(other);
    const auto kind = kind_of(path_);
    ASSERT_FALSE(kind.has_value()) << other;
    EXPECT_EQ(kind.error().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(kind_of(path_ + ".gone").error().code(), Code::kNotFound);
}

TEST_F(Files, AMappedFileHasTheFilesBytes) {
  write("hello");
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value()) << file.error();
  ASSERT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(std::memcmp(file->bytes().data(), "hello", 5), 0);
}

TEST_F(Files, AnEmptyFileHasNoBytes) {
  write("");
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value()) << file.error();
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_TRUE(read_file(path_)->empty());
}

TEST_F(Files, WhatIsNoFileIsRefused) {
  const std::string folder = testing::TempDir();
  EXPECT_EQ(MappedFile::open(path_ + ".gone").error().code(), Code::kNotFound);
  EXPECT_EQ(read_file(path_ + ".gone").error().code(), Code::kNotFound);
  EXPECT_EQ(MappedFile::open(folder).error().code(), Code::kInvalidArgument);
  const auto read = read_file(folder);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(read.error().to_string(), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace berth::cli
