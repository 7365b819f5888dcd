#include "cli/npy.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace berth::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  ~Npy() override { std::filesystem::remove(path_); }

  // A version 1 file with this header text and these data bytes.
  void write(const std::string& header, const std::string& data) const {
    std::ofstream file(path_, std::ios::binary);
    const auto length = static_cast<std::uint16_t>(header.size());
    file << "\x93NUMPY\x01" << '\0';
    file.write(reinterpret_cast<const char*>(&length), 2);
    file << header << data;
  }

  std::string path_ = testing::TempDir() + "berth_npy_test.npy";
};

TEST_F(Npy, WhatIsWrittenIsReadBack) {
  const std::int64_t sizes[] = {2, 3};
  for (const DType dtype :
       {DType::kFloat32,        DType::kFloat64,       DType::kInt8,
        DType::kInt16,          DType::kInt32,         DType::kInt64,
        DType::kUInt8,          DType::kUInt16,        DType::kUInt32,
        DType::kUInt64,         DType::kBool,          DType::kBFloat16,
        DType::kFloat16,        DType::kComplex32,     DType::kComplex64,
        DType::kComplex128,     DType::kFloat8E4M3FN,  DType::kFloat8E5M2,
        DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ}) {
    auto tensor = Tensor::empty(sizes, dtype);
    ASSERT_TRUE(tensor.has_value());
    std::memset(tensor->data(), 1, tensor->size_bytes());
    ASSERT_TRUE(write_npy(path_, *tensor).has_value());
    const auto read = read_npy(path_, dtype);
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(read->dtype(), dtype);
    EXPECT_THAT(read->sizes(), ElementsAre(2, 3));
    EXPECT_EQ(std::memcmp(read->data(), tensor->data(), tensor->size_bytes()),
              0);
  }
}

TEST_F(Npy, RawBytesAreReadAsWhatIsExpectedOfTheirSize) {
  struct Case {
    const char* descr;
    std::optional<DType> expected;
    std::optional<DType> read;
  };
  for (const Case& c : {
           Case{"|V1", DType::kFloat8E5M2, DType::kFloat8E5M2},
           Case{"<V1", DType::kFloat8E4M3FN, DType::kFloat8E4M3FN},
           Case{"|V1", std::nullopt, std::nullopt},
           Case{"|V1", DType::kUInt8, std::nullopt},
           Case{"|V1", DType::kBFloat16, std::nullopt},
           Case{"<V2", std::nullopt, DType::kBFloat16},
           Case{"|V2", DType::kFloat32, DType::kBFloat16},
           Case{"|V4", DType::kComplex32, DType::kComplex32},
           Case{"|V4", DType::kFloat32, std::nullopt},
           Case{"|V3", std::nullopt, std::nullopt},
           Case{"|V", std::nullopt, std::nullopt},
           // Types that NumPy has are what they say.
           Case{"|u1", DType::kFloat8E5M2, DType::kUInt8},
           Case{"<u2", DType::kBFloat16, DType::kUInt16},
           Case{"<f1", std::nullopt, DType::kFloat8E5M2},
       }) {
    write(std::string("{'descr': '") + c.descr +
              "', 'fortran_order': False, 'shape': (), }",
          "data");
    const auto read = read_npy(path_, c.expected);
    ASSERT_EQ(read.has_value(), c.read.has_value()) << c.descr;
    if (read) {
      EXPECT_EQ(read->dtype(), *c.read) << c.descr;
    } else {
      EXPECT_EQ(read.error().code(), Code::kInvalidArgument) << c.descr;
      EXPECT_THAT(read.error().to_string(), HasSubstr("raw bytes"));
    }
  }
}

TEST_F(Npy, ATensorWithoutDimensionsHasOneElement) {
  write("{'descr': '<i4', 'fortran_order': False, 'shape': (), }",
        std::string("\x07\0\0\0", 4));
  const auto read = read_npy(path_);
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(read->dim(), 0);
  EXPECT_EQ(*static_cast<std::int32_t*>(read->data()), 7);
}

TEST_F(Npy, ColumnMajorFilesComeOutRowMajor) {
  write("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
        std::string("\0\3\1\4\2\5", 6));
  const auto read = read_npy(path_);
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_TRUE(read->is_contiguous());
  const auto* bytes = static_cast<const std::uint8_t*>(read->data());
  EXPECT_THAT(std::vector<int>(bytes, bytes + 6),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Npy, AMissingFileIsNotFound) {
  const auto read = read_npy(path_ + ".gone");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), Code::kNotFound);
}

TEST_F(Npy, SpoiledFilesAreRefusedWithAReason) {
  struct Case {
    const char* header;
    const char* says;
  };
  for (const Case& c : {
           Case{"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
                "'>f4'"},
           Case{"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
                "'|O'"},
           Case{"{'fortran_order': False, 'shape': (1,), }", "lacks 'descr'"},
           Case{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
                "sizes"},
           Case{"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }",
                "tuple"},
           Case{"{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }",
                "needs 36 bytes of data, found 4"},
       }) {
    write(c.header, "data");
    const auto read = read_npy(path_);
    ASSERT_FALSE(read.has_value()) << c.header;
    EXPECT_THAT(read.error().to_string(), HasSubstr(c.says));
    EXPECT_THAT(read.error().to_string(), HasSubstr(path_));
  }
}

TEST_F(Npy, SizesThatMemoryCannotHoldAreRefused) {
  write(
      "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, "
      "4611686018427387904), }",
      "");
  const auto read = read_npy(path_);
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().to_string(), HasSubstr("needs 2^64 or more bytes"));
  write("{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }",
        "data");
  EXPECT_THAT(read_npy(path_).error().to_string(),
              HasSubstr("needs 1099511627776 bytes of data, found 4"));
}

TEST_F(Npy, TextIsNotNpy) {
  std::ofstream(path_) << "hello, this is text";
  const auto read = read_npy(path_);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), Code::kCorrupt);
}

TEST_F(Npy, AHeaderThatIsCutOffIsCorrupt) {
  std::ofstream(path_, std::ios::binary)
      << "\x93NUMPY\x01" << '\0' << "\xff\x7f{";
  const auto read = read_npy(path_);
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().to_string(), HasSubstr("cut off"));
}

}  // namespace
}  // namespace berth::cli
