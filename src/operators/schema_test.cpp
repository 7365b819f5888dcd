#include "operators/schema.h"

#include <gmock/gmock.h>

namespace berth::operators {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Schema, OfManyTypesIsRead) {
  const auto schema = Schema::parse(
      "aten::all_of.it(Tensor(a!) self, Tensor? mask=None, Tensor[] many, "
      "Tensor?[] some, SymInt[2]? size=[1, 2], *, float p=1e-05, bool "
      "keep=False,"
      " Scalar alpha=1, str mode=\"a,b)\", ScalarType? dtype=None) -> "
      "(Tensor(a!) values, Tensor[])");
  ASSERT_TRUE(schema) << schema.error();
  EXPECT_EQ(schema->name, "aten::all_of.it");
  const auto& parameters = schema->parameters;
  ASSERT_EQ(parameters.size(), 10u);
  const Kind kinds[] = {
      Kind::kTensor, Kind::kTensor, Kind::kTensor, Kind::kTensor, Kind::kInt,
      Kind::kFloat,  Kind::kBool,   Kind::kScalar, Kind::kString, Kind::kEnum};
  for (std::size_t i = 0; i < parameters.size(); ++i)
    EXPECT_EQ(parameters[i].type.kind, kinds[i]) << i;
  EXPECT_EQ(parameters[8].name, "mode");
  EXPECT_TRUE(parameters[1].type.may_be_none);
  EXPECT_TRUE(parameters[2].type.is_list);
  EXPECT_FALSE(parameters[2].type.elements_may_be_none);
  EXPECT_TRUE(parameters[3].type.elements_may_be_none);
  EXPECT_FALSE(parameters[3].type.may_be_none);
  EXPECT_TRUE(parameters[4].type.is_list && parameters[4].type.may_be_none);
  ASSERT_EQ(schema->returns.size(), 2u);
  EXPECT_TRUE(schema->returns[1].is_list);
}

TEST(Schema, TellsDefaultsByTheirTypes) {
  const auto schema = Schema::parse(
      "a::b(Tensor a, int b=-1, SymInt[2] c=3, int[] d=[], float e=1e-05, bool "
      "f=True, Scalar g=2, Scalar h=2., str i=\"a\\\"b\", ScalarType? j=None, "
      "int k=Mean, bool[3] l=[True, False, True], Device? m=None) -> Tensor");
  ASSERT_TRUE(schema) << schema.error();
  const auto value = [&](std::size_t i) {
    return *schema->parameters[i].default_value;
  };
  EXPECT_FALSE(schema->parameters[0].default_value);
  EXPECT_EQ(std::get<std::int64_t>(value(1)), -1);
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(value(2)), ElementsAre(3, 3));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(value(3)), ElementsAre());
  EXPECT_EQ(std::get<double>(value(4)), 1e-5);
  EXPECT_TRUE(std::get<bool>(value(5)));
  EXPECT_EQ(std::get<std::int64_t>(value(6)), 2);
  EXPECT_EQ(std::get<double>(value(7)), 2.0);
  EXPECT_EQ(std::get<std::string>(value(8)), "a\"b");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value(9)));
  EXPECT_EQ(std::get<std::int64_t>(value(10)), 1);
  EXPECT_THAT(std::get<std::vector<bool>>(value(11)),
              ElementsAre(true, false, true));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value(12)));
}

TEST(Schema, MayTakeAndReturnNothing) {
  const auto schema = Schema::parse("mine::tick() -> ()");
  ASSERT_TRUE(schema) << schema.error();
  EXPECT_TRUE(schema->parameters.empty() && schema->returns.empty());
}

class SchemaRefused : public ::testing::TestWithParam<const char*> {};

TEST_P(SchemaRefused, WithThePlace) {
  const auto schema = Schema::parse(GetParam());
  ASSERT_FALSE(schema);
  EXPECT_EQ(schema.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(schema.error().to_string(), HasSubstr("expected"));
}

INSTANTIATE_TEST_SUITE_P(
    All, SchemaRefused,
    ::testing::Values(
        "", "add(Tensor a) -> Tensor", "::add(Tensor a) -> Tensor",
        "a::(Tensor a) -> Tensor", "a::b", "a::b(", "a::b(Tensor a",
        "a::b(Tensor a) ", "a::b(Tensor) -> Tensor",
        "a::b(Tensor a Tensor b) -> Tensor", "a::b(Blob a) -> Tensor",
        "a::b(Tensor( a) -> Tensor", "a::b(int[ a) -> Tensor",
        "a::b(int[][] a) -> Tensor", "a::b(Tensor a) -> Tensor x y",
        "a::b(Tensor a) -> (Tensor", "a::b(int a=[1) -> Tensor",
        "a::b(int a=None) -> Tensor", "a::b(int a=x) -> Tensor",
        "a::b(int a=99999999999999999999) -> Tensor",
        "a::b(int[999999] a=1) -> Tensor", "a::b(int[] a=1) -> Tensor",
        "a::b(str a=\"b) -> Tensor", "a::b(Tensor a=1) -> Tensor"));

}  // namespace
}  // namespace berth::operators
