#include "berth/package.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "berth/model.h"
#include "pack/pack_testing.h"

namespace berth {
namespace {

using pack::ZipWriter;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

using Files = std::map<std::string, std::string>;

Files sound() {
  const std::string folder = "p/data/aotinductor/model/";
  return {
      {"p/archive_format", "pt2"},
      {"p/archive_version", "0"},
      {"p/byteorder", "little"},
      {folder + "x.wrapper.so", "code"},
      {folder + "x.wrapper.cpp", "source"},
      {folder + "x.wrapper_metadata.json",
       R"({"AOTI_DEVICE_KEY": "cpu", "AOTI_MACHINE": "x86_64",)"
       R"( "AOTI_PLATFORM": "linux", "AOTI_CPU_ISA": "AVX2"})"},
  };
}

std::vector<std::byte> zipped(const Files& files) {
  ZipWriter zip;
  for (const auto& [name, data] : files) zip.add(name, data);
  return zip.finish();
}

TEST(Package, TellsWhatAModelIsMadeOf) {
  Files files = sound();
  files["p/data/aotinductor/model/x.wrapper_weights.blob"] = "numbers";
  files["p/extra/note"] = "hello";
  const auto bytes = zipped(files);
  const auto package = Package::open(bytes);
  ASSERT_TRUE(package) << package.error();
  ASSERT_EQ(package->models().size(), 1u);
  const PackagedModel& model = package->models()[0];
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.library.name, "data/aotinductor/model/x.wrapper.so");
  EXPECT_EQ(model.library.size_bytes, 4u);
  EXPECT_EQ(model.files.size(), 4u);
  EXPECT_EQ(model.constants, PackagedConstants::kBlob);
  EXPECT_THAT(model.constant_files,
              ElementsAre(Field(&PackagedFile::size_bytes, 7u)));
  EXPECT_EQ(model.device, "cpu");
  EXPECT_EQ(model.machine, "x86_64");
  EXPECT_EQ(model.platform, "linux");
  EXPECT_EQ(model.instruction_set, "AVX2");
  EXPECT_EQ(model.metadata.size(), 4u);
  EXPECT_EQ(pack::text_of(*package->read("extra/note")), "hello");
  EXPECT_EQ(package->read("extra/none").error().code(), Code::kNotFound);
  EXPECT_EQ(package->label(), "a package in memory");
}

TEST(Package, FindsConstantsInEntriesOfTheirOwn) {
  Files files = sound();
  files["p/data/aotinductor/model/weights_config.json"] =
      R"({"l.weight": ["weight_0", [2], [1], 0],)"
      R"( "l.tied": ["weight_0", [1], [1], 1], "l.bias": ["weight_1", [2], [1], 0]})";
  files["p/data/weights/weight_0"] = "w";
  files["p/data/weights/weight_1"] = "b";
  const auto bytes = zipped(files);
  const auto package = Package::open(bytes);
  ASSERT_TRUE(package) << package.error();
  EXPECT_EQ(package->models()[0].constants, PackagedConstants::kEntries);
  EXPECT_EQ(package->models()[0].constant_files.size(), 3u);
}

TEST(Package, FindsAModelByItsName) {
  Files files = sound();
  files["p/data/aotinductor/left/y.wrapper.so"] = "code";
  const auto bytes = zipped(files);
  const auto package = Package::open(bytes);
  ASSERT_TRUE(package) << package.error();
  EXPECT_EQ((*package->find("left"))->name, "left");
  EXPECT_EQ((*package->find(""))->name, "model");
  const auto none = package->find("right");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kNotFound);
  EXPECT_THAT(none.error().to_string(),
              HasSubstr("no model 'right', it has 'left', 'model'"));
}

struct Spoiled {
  const char* name;
  std::function<void(Files&)> spoil;
  Code code;
  const char* says;
};

const std::string kFolder = "p/data/aotinductor/model/";

const Spoiled kSpoiled[] = {
    {"NoFormat", [](Files& f) { f.erase("p/archive_format"); },
     Code::kIncompatible, "a .pt2 package has a file 'archive_format'"},
    {"OtherFormat", [](Files& f) { f["p/archive_format"] = "pth"; },
     Code::kIncompatible, "should say 'pt2', found 'pth'"},
    {"OtherVersion", [](Files& f) { f["p/archive_version"] = "7"; },
     Code::kIncompatible, "'p/archive_version' should say '0', found '7'"},
    {"BigEndian", [](Files& f) { f["p/byteorder"] = "big"; },
     Code::kIncompatible, "should say 'little', found 'big'"},
    {"NoModel",
     [](Files& f) {
       std::erase_if(
           f, [](const auto& file) { return file.first.starts_with(kFolder); });
     },
     Code::kIncompatible, "no compiled model"},
    {"NoLibrary", [](Files& f) { f.erase(kFolder + "x.wrapper.so"); },
     Code::kIncompatible, "model 'model' has no library (.so) among its 2"},
    {"TwoLibraries", [](Files& f) { f[kFolder + "k.so"] = "code"; },
     Code::kUnsupported, "has 2 libraries, expected one"},
    {"TwoKindsOfConstants",
     [](Files& f) {
       f[kFolder + "a.blob"] = "1";
       f[kFolder + "weights_config.json"] = "{}";
     },
     Code::kCorrupt, "has its constants twice"},
    {"MetadataThatIsNoJson",
     [](Files& f) { f[kFolder + "x.wrapper_metadata.json"] = "{"; },
     Code::kCorrupt, "is not a JSON object"},
    {"MetadataThatIsAList",
     [](Files& f) { f[kFolder + "x.wrapper_metadata.json"] = "[]"; },
     Code::kCorrupt, "is not a JSON object"},
    {"MetadataWithANumber",
     [](Files& f) {
       f[kFolder + "x.wrapper_metadata.json"] = R"({"AOTI_MACHINE": 3})";
     },
     Code::kCorrupt, "'AOTI_MACHINE' is a number"},
    {"WeightsThatAreNotThere",
     [](Files& f) {
       f[kFolder + "weights_config.json"] =
           R"({"w": ["weight_0", [1], [1], 0]})";
     },
     Code::kCorrupt, "should be in 'data/weights/weight_0'"},
    {"WeightsWithoutAPlace",
     [](Files& f) { f[kFolder + "weights_config.json"] = R"({"w": []})"; },
     Code::kCorrupt,
     "should say [file, sizes, strides, offset] of 'w', found []"},
    {"WeightsThatAreNoObject",
     [](Files& f) { f[kFolder + "weights_config.json"] = "3"; }, Code::kCorrupt,
     "weights_config.json is not a JSON object"},
};

class PackageRejects : public testing::TestWithParam<Spoiled> {};

TEST_P(PackageRejects, WithCodeAndReason) {
  Files files = sound();
  GetParam().spoil(files);
  const auto bytes = zipped(files);
  const auto package = Package::open(bytes);
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().code(), GetParam().code) << package.error();
  EXPECT_THAT(package.error().to_string(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Spoiled, PackageRejects, testing::ValuesIn(kSpoiled),
                         [](const auto& spoiled) {
                           return spoiled.param.name;
                         });

// What is refused before anything of the library is looked at.
TEST(Package, IsNotLoadedForAnotherTarget) {
  const std::pair<const char*, const char*> kTargets[] = {
      {R"({"AOTI_DEVICE_KEY": "cuda"})",
       "model 'model' was compiled for device cuda, this is cpu"},
      {R"({"AOTI_MACHINE": "riscv64"})", "compiled for machine riscv64"},
      {R"({"AOTI_PLATFORM": "win32"})", "compiled for platform win32"},
  };
  for (const auto& [metadata, says] : kTargets) {
    Files files = sound();
    files[kFolder + "x.wrapper_metadata.json"] = metadata;
    const auto bytes = zipped(files);
    const auto package = Package::open(bytes);
    ASSERT_TRUE(package) << package.error();
    const auto model = Model::load(*package);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code(), Code::kIncompatible);
    EXPECT_THAT(model.error().to_string(), HasSubstr(says));
  }
}

TEST(Package, ThatIsNotThereIsNotFound) {
  const auto package = Package::open("/nowhere/model.pt2");
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().code(), Code::kNotFound);
  EXPECT_THAT(package.error().to_string(), HasSubstr("/nowhere/model.pt2"));
}

}  // namespace
}  // namespace berth
