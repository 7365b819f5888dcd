#include "operators/external_calls.h"

#include <gmock/gmock.h>

#include <array>
#include <stdexcept>

namespace berth::operators {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A list of one call of `target`.
std::string list_of(const std::string& target, const std::string& inputs,
                    const std::string& outputs) {
  return R"({"nodes": [{"name": "buf0", "node": {"target": ")" + target +
         R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs +
         R"(], "metadata": {}}}]})";
}

Tensor tensor_of(std::vector<float> values) {
  auto tensor = Tensor::empty({{static_cast<std::int64_t>(values.size())}},
                              DType::kFloat32);
  std::ranges::copy(values, static_cast<float*>(tensor->data()));
  return *std::move(tensor);
}

// An operator of the test's, gone with it.
class Registered {
 public:
  Registered(const std::string& schema, OperatorFunction function)
      : name_(schema.substr(0, schema.find('('))) {
    const auto status = register_operator(schema, std::move(function));
    EXPECT_TRUE(status) << status.error();
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { EXPECT_TRUE(unregister_operator(name_)); }

 private:
  std::string name_;
};

// Tensors as a library hands them over.
class Handles {
 public:
  explicit Handles(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors)
      handles_.push_back(shim::wrap(std::move(tensor)));
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    for (const AtenTensorHandle handle : handles_) shim::discard(handle);
  }
  std::span<const AtenTensorHandle> all() const { return handles_; }
  const Tensor& operator[](std::size_t i) const {
    return **shim::borrow(handles_[i]);
  }

 private:
  std::vector<AtenTensorHandle> handles_;
};

constexpr const char* kMedianInputs =
    R"({"name": "self", "arg": {"as_tensor": {"name": "a"}}, "kind": 1},
       {"name": "dim", "arg": {"as_int": 0}, "kind": 1},
       {"name": "keepdim", "arg": {"as_bool": false}, "kind": 1})";
constexpr const char* kTwoTensors =
    R"({"as_tensor": {"name": "b"}}, {"as_tensor": {"name": "c"}})";

TEST(ExternalCalls, OfBerthsOwnOperatorsRun) {
  const std::string json =
      list_of("aten::median.dim", kMedianInputs, kTwoTensors);
  const auto calls = ExternalCalls::parse(bytes_of(json));
  ASSERT_TRUE(calls) << calls.error();
  EXPECT_THAT(calls->names(), ElementsAre("aten::median.dim"));
  EXPECT_TRUE(calls->missing().empty());
  const Handles tensors({tensor_of({5, 1, 4, 2}), Tensor(), Tensor()});
  const std::int64_t dim[] = {-1};
  const auto status = calls->call(0, dim, tensors.all());
  ASSERT_TRUE(status) << status.error();
  EXPECT_EQ(*static_cast<const float*>(tensors[1].data()), 2.0f);
  EXPECT_EQ(*static_cast<const std::int64_t*>(tensors[2].data()), 3);
  EXPECT_EQ(tensors[1].dim(), 0);
}

TEST(ExternalCalls, GiveEveryKindOfArgument) {
  std::vector<OperatorArgument> seen;
  const Registered mine(
      "test::all(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e, int[] f, "
      "float g, bool h, str i, Scalar j, ScalarType k, float[] l, int? m=None) "
      "-> "
      "Tensor[]",
      [&](auto arguments) -> Result<std::vector<Tensor>> {
        seen.assign(arguments.begin(), arguments.end());
        return std::vector{tensor_of({1}), tensor_of({2})};
      });
  const std::string json =
      list_of("test::all",
              R"({"name": "a", "arg": {"as_tensor": {"name": "x"}}},
         {"name": "b", "arg": {"as_none": true}},
         {"name": "c", "arg": {"as_tensors": [{"name": "x"}, {"name": "y"}]}},
         {"name": "d", "arg": {"as_optional_tensors":
             [{"as_none": true}, {"as_tensor": {"name": "y"}}]}},
         {"name": "e", "arg": {"as_int": 3}},
         {"name": "f", "arg": {"as_ints": [4, 5]}},
         {"name": "g", "arg": {"as_float": "-Infinity"}},
         {"name": "h", "arg": {"as_bool": true}},
         {"name": "i", "arg": {"as_string": "text"}},
         {"name": "j", "arg": {"as_float": 0.5}},
         {"name": "k", "arg": {"as_scalar_type": 7}},
         {"name": "l", "arg": {"as_floats": [1.5, 2]}})",
              R"({"as_tensors": [{"name": "p"}, {"name": "q"}]})");
  const auto calls = ExternalCalls::parse(bytes_of(json));
  ASSERT_TRUE(calls) << calls.error();
  const Handles tensors({tensor_of({10}), tensor_of({20}), tensor_of({30}),
                         tensor_of({40}), Tensor(), Tensor()});
  const std::int64_t ints[] = {7, 8, 9};
  const auto status = calls->call(0, ints, tensors.all());
  ASSERT_TRUE(status) << status.error();
  const auto first = [](const Tensor& tensor) {
    return *static_cast<const float*>(tensor.data());
  };
  ASSERT_EQ(seen.size(), 13u);
  EXPECT_EQ(first(std::get<Tensor>(seen[0])), 10);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(seen[1]));
  EXPECT_EQ(first(std::get<std::vector<Tensor>>(seen[2]).at(1)), 30);
  const auto& some = std::get<std::vector<std::optional<Tensor>>>(seen[3]);
  EXPECT_FALSE(some.at(0));
  EXPECT_EQ(first(*some.at(1)), 40);
  EXPECT_EQ(std::get<std::int64_t>(seen[4]), 7);
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(seen[5]), ElementsAre(8, 9));
  EXPECT_EQ(std::get<double>(seen[6]),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::get<bool>(seen[7]));
  EXPECT_EQ(std::get<std::string>(seen[8]), "text");
  EXPECT_EQ(std::get<double>(seen[9]), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(seen[10]), 7);
  EXPECT_THAT(std::get<std::vector<double>>(seen[11]), ElementsAre(1.5, 2));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(seen[12]));
  EXPECT_EQ(first(tensors[5]), 2);
}

TEST(ExternalCalls, GiveListsTheTypeOfTheSchemaAndDefaultsForWhatIsLeftOut) {
  std::vector<OperatorArgument> seen;
  const Registered mine(
      "test::some(Tensor?[] a, Tensor[] b, int[2] c=1, float d=0.5, str? "
      "e=None, str[] f) -> ()",
      [&](auto arguments) -> Result<std::vector<Tensor>> {
        seen.assign(arguments.begin(), arguments.end());
        return std::vector<Tensor>();
      });
  const std::string json = list_of("test::some",
                                   R"({"name": "a", "arg":
             {"as_optional_tensors": [{"as_tensor": {"name": "x"}}]}},
           {"name": "b", "arg": {"as_tensors": []}},
           {"name": "f", "arg": {"as_strings": ["g", "h"]}})",
                                   "");
  const auto calls = ExternalCalls::parse(bytes_of(json));
  ASSERT_TRUE(calls) << calls.error();
  const Handles tensors({tensor_of({10})});
  const auto status = calls->call(0, {}, tensors.all());
  ASSERT_TRUE(status) << status.error();
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_TRUE(
      std::get<std::vector<std::optional<Tensor>>>(seen[0]).at(0).has_value());
  EXPECT_TRUE(std::get<std::vector<Tensor>>(seen[1]).empty());
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(seen[2]), ElementsAre(1, 1));
  EXPECT_EQ(std::get<double>(seen[3]), 0.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(seen[4]));
  EXPECT_THAT(std::get<std::vector<std::string>>(seen[5]),
              ElementsAre("g", "h"));
}

TEST(ExternalCalls, NameWhatIsMissing) {
  const std::string json = list_of("mine::unknown", "", "");
  const auto calls = ExternalCalls::parse(bytes_of(json));
  ASSERT_TRUE(calls) << calls.error();
  EXPECT_THAT(calls->missing(), ElementsAre("mine::unknown"));
}

TEST(ExternalCalls, ErrorsSayWhichOperatorAndWhatItWasGiven) {
  const std::string inputs =
      R"({"name": "a", "arg": {"as_tensor": {"name": "x"}}})";
  const std::string output = R"({"as_tensor": {"name": "p"}})";
  const Handles tensors({tensor_of({1, 2}), Tensor()});
  const auto error_of = [&](OperatorFunction function) {
    const Registered mine("test::fails(Tensor a) -> Tensor",
                          std::move(function));
    const std::string json = list_of("test::fails", inputs, output);
    const auto calls = ExternalCalls::parse(bytes_of(json));
    const auto status = calls->call(0, {}, tensors.all());
    return status ? std::string() : status.error().to_string();
  };
  const std::string failed = error_of([](auto) -> Result<std::vector<Tensor>> {
    return fail(Code::kInvalidArgument, "no boxes");
  });
  EXPECT_THAT(failed, HasSubstr("no boxes"));
  EXPECT_THAT(failed, HasSubstr("operator 'test::fails' (float32 [2])"));
  EXPECT_THAT(error_of([](auto) -> Result<std::vector<Tensor>> {
                throw std::runtime_error("thrown");
              }),
              HasSubstr("thrown"));
  EXPECT_THAT(error_of([](auto) -> Result<std::vector<Tensor>> {
                return std::vector<Tensor>();
              }),
              HasSubstr("expected 1 results, found 0"));
  EXPECT_THAT(error_of([](auto) -> Result<std::vector<Tensor>> {
                return std::vector<Tensor>(1);
              }),
              HasSubstr("gave no tensor for result 0"));
}

TEST(ExternalCalls, OfOtherCountsThanThePackageSaysAreRefused) {
  const std::string json =
      list_of("aten::median.dim", kMedianInputs, kTwoTensors);
  const auto calls = ExternalCalls::parse(bytes_of(json));
  ASSERT_TRUE(calls) << calls.error();
  const Handles tensors({tensor_of({1}), Tensor(), Tensor()});
  const std::int64_t ints[] = {0, 0};
  EXPECT_FALSE(calls->call(0, ints, tensors.all()));
  EXPECT_FALSE(calls->call(0, {}, tensors.all()));
  EXPECT_FALSE(
      calls->call(0, std::span(ints).first(1), tensors.all().first(2)));
  EXPECT_FALSE(calls->call(1, std::span(ints).first(1), tensors.all()));
}

class ListRefused : public ::testing::TestWithParam<std::string> {};

TEST_P(ListRefused, AsCorrupt) {
  const auto calls = ExternalCalls::parse(bytes_of(GetParam()));
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().code(), Code::kCorrupt) << calls.error();
}

INSTANTIATE_TEST_SUITE_P(
    All, ListRefused,
    ::testing::Values(
        "", "{", "[]", "{}", R"({"nodes": 3})", R"({"nodes": [{}]})",
        R"({"nodes": [{"node": {"target": 3}}]})",
        R"({"nodes": [{"node": {"target": "aten::median.dim"}}]})",
        list_of("aten::median.dim", R"({"name": "self"})", kTwoTensors),
        list_of("aten::median.dim", R"({"name": "self", "arg": {}})",
                kTwoTensors),
        list_of("aten::median.dim", R"({"name": "self", "arg": {"as_int": 1}})",
                kTwoTensors),
        list_of("aten::median.dim",
                R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}})",
                kTwoTensors),
        list_of("aten::median.dim",
                R"({"name": "keepdim", "arg": {"as_bool": 3}})", kTwoTensors)));

TEST(Registry, RefusesWhatIsTakenOrUnknown) {
  const auto nothing = [](auto) -> Result<std::vector<Tensor>> {
    return std::vector<Tensor>();
  };
  const Registered mine("test::one() -> ()", nothing);
  EXPECT_FALSE(register_operator("test::one() -> ()", nothing));
  EXPECT_FALSE(register_operator("aten::median.dim() -> ()", nothing));
  EXPECT_FALSE(register_operator("test::two() -> ()", nullptr));
  EXPECT_FALSE(register_operator("test two", nothing));
  EXPECT_EQ(unregister_operator("test::three").error().code(), Code::kNotFound);
  EXPECT_FALSE(unregister_operator("aten::median.dim"));
  EXPECT_THAT(registered_operators(), ::testing::Contains("test::one"));
}

}  // namespace
}  // namespace berth::operators
