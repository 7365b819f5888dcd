#include "model/call_spec.h"

#include <gmock/gmock.h>

namespace berth::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As torch writes them, with `x` for a leaf.
std::string spec(std::string text) {
  const std::string leaf =
      R"({"type": null, "context": null, "children_spec": []})";
  for (std::size_t at = 0; (at = text.find("LEAF", at)) != std::string::npos;
       at += leaf.size())
    text.replace(at, 4, leaf);
  return "[1, " + text + "]";
}

std::string tuple(const std::string& children) {
  return R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" +
         children + "]}";
}

std::string dict(const std::string& keys, const std::string& children) {
  return R"({"type": "builtins.dict", "context": ")" + keys +
         R"(", "children_spec": [)" + children + "]}";
}

TEST(CallSpec, GivesInputsTheirPlaceAmongTheArguments) {
  const std::string text =
      spec(tuple(tuple("LEAF, " + tuple("LEAF, LEAF")) + ", " +
                 dict(R"([\"mask\", \"opts\"])",
                      "LEAF, " + dict(R"([\"w\", 3])", "LEAF, LEAF"))));
  EXPECT_THAT(input_paths(text),
              ElementsAre("[0]", "[1][0]", "[1][1]", "['mask']",
                          "['opts']['w']", "['opts'][3]"));
}

TEST(CallSpec, GivesOutputsTheirPlaceInTheResult) {
  EXPECT_THAT(output_paths(spec("LEAF")), ElementsAre(""));
  EXPECT_THAT(output_paths(spec(tuple(""))), IsEmpty());
  EXPECT_THAT(output_paths(spec(dict(R"([\"y\", \"pair\"])",
                                     "LEAF, " + tuple("LEAF, LEAF")))),
              ElementsAre("['y']", "['pair'][0]", "['pair'][1]"));
}

TEST(CallSpec, KnowsTheKeysOfADefaultdict) {
  EXPECT_THAT(
      output_paths(spec(
          R"({"type": "collections.defaultdict", "context": )"
          R"("{\"default_factory_module\": \"builtins\", \"dict_context\": )"
          R"([\"a\"]}", "children_spec": [LEAF]})")),
      ElementsAre("['a']"));
}

TEST(CallSpec, IsLeftAloneWhereItIsNotUnderstood) {
  std::string deep = "LEAF";
  for (int i = 0; i < 100; ++i) deep = tuple(deep);
  for (const std::string& text :
       {std::string(), std::string("["), std::string("[1]"),
        std::string("[1, 2]"), std::string("{}"), spec("[]"),
        spec(R"({"type": "builtins.tuple"})"),
        spec(R"({"type": "x", "children_spec": 3})"), spec(deep)}) {
    EXPECT_THAT(output_paths(text), IsEmpty()) << text;
    EXPECT_THAT(input_paths(text), IsEmpty()) << text;
  }
}

TEST(CallSpec, CountsChildrenWhereTheKeysDoNotMatchThem) {
  EXPECT_THAT(output_paths(spec(dict(R"([\"a\"])", "LEAF, LEAF"))),
              ElementsAre("[0]", "[1]"));
}

}  // namespace
}  // namespace berth::model
