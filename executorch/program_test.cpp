#include "executorch/program.h"

#include <gmock/gmock.h>
#include <program_generated.h>

#include <cstring>
#include <string>
#include <vector>

namespace berth::executorch {
namespace {

namespace schema = ::executorch_flatbuffer;
using Bytes = std::vector<std::byte>;
using testing::HasSubstr;

constexpr const char* kLibraryKey = "0123_so_blob";
constexpr const char* kWeightsKey = "4567_weights_blob";

struct Parts {
  std::string processed = std::string(kLibraryKey) + "\n" + kWeightsKey;
  std::uint32_t named_segment = 0;
  std::uint64_t segment_offset = 0;
  std::uint64_t segment_size = 4;
  std::vector<std::int32_t> inputs = {0, 1, 2};
};

using Value = flatbuffers::Offset<schema::EValue>;

Value tensor_value(flatbuffers::FlatBufferBuilder& builder,
                   const std::vector<std::int32_t>& sizes,
                   schema::TensorShapeDynamism dynamism,
                   const char* external_key = nullptr) {
  flatbuffers::Offset<schema::ExtraTensorInfo> extra;
  if (external_key != nullptr)
    extra = schema::CreateExtraTensorInfoDirect(
        builder, 0, external_key, schema::TensorDataLocation::EXTERNAL);
  const auto tensor =
      schema::CreateTensorDirect(builder, schema::ScalarType::HALF, 0, &sizes,
                                 nullptr, false, 0, 0, 0, dynamism, extra);
  return schema::CreateEValue(builder, schema::KernelTypes::Tensor,
                              tensor.Union());
}

// A fixed tensor, one that may vary, a number, and a constant in a .ptd.
std::vector<Value> values(flatbuffers::FlatBufferBuilder& builder) {
  using Dynamism = schema::TensorShapeDynamism;
  return {tensor_value(builder, {2, 3}, Dynamism::STATIC),
          tensor_value(builder, {64}, Dynamism::DYNAMIC_BOUND),
          schema::CreateEValue(builder, schema::KernelTypes::Int,
                               schema::CreateInt(builder, 7).Union()),
          tensor_value(builder, {4}, Dynamism::STATIC, "layer.weight")};
}

// A program with one method of two delegates, Berth's and another's, and one
// segment of four bytes.
Bytes build(const Parts& parts) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<std::uint8_t> processed(parts.processed.begin(),
                                            parts.processed.end());
  const std::vector<std::uint8_t> isa = {'A', 'V', 'X', '2'};
  const auto inline_data = builder.CreateVector(
      std::vector<flatbuffers::Offset<schema::BackendDelegateInlineData>>{
          schema::CreateBackendDelegateInlineDataDirect(builder, &processed)});
  const std::vector<flatbuffers::Offset<schema::CompileSpec>> specs = {
      schema::CreateCompileSpecDirect(builder, "instruction_set", &isa)};
  const auto reference = schema::CreateBackendDelegateDataReference(
      builder, schema::DataLocation::INLINE, 0);
  const std::vector<flatbuffers::Offset<schema::BackendDelegate>> delegates = {
      schema::CreateBackendDelegateDirect(builder, "BerthBackend", reference,
                                          &specs),
      schema::CreateBackendDelegateDirect(builder, "XnnpackBackend",
                                          reference)};
  const std::vector<flatbuffers::Offset<schema::Operator>> operators = {
      schema::CreateOperatorDirect(builder, "aten::abs", "out")};
  const std::vector<Value> all_values = values(builder);
  const std::vector<flatbuffers::Offset<schema::ExecutionPlan>> plans = {
      schema::CreateExecutionPlanDirect(builder, "forward", 0, &all_values,
                                        &parts.inputs, nullptr, nullptr,
                                        &operators, &delegates)};
  const auto plan_vector = builder.CreateVector(plans);
  const auto segments = builder.CreateVector(
      std::vector<flatbuffers::Offset<schema::DataSegment>>{
          schema::CreateDataSegment(builder, parts.segment_offset,
                                    parts.segment_size)});
  const auto named =
      builder.CreateVector(std::vector<flatbuffers::Offset<schema::NamedData>>{
          schema::CreateNamedDataDirect(builder, kLibraryKey,
                                        parts.named_segment)});
  schema::ProgramBuilder program(builder);
  program.add_execution_plan(plan_vector);
  program.add_backend_delegate_data(inline_data);
  program.add_segments(segments);
  program.add_named_data(named);
  schema::FinishProgramBuffer(builder, program.Finish());

  // The extended header goes between flatbuffers' first two words and the
  // tables; the root offset moves by its size.
  const std::uint8_t* tables = builder.GetBufferPointer();
  constexpr std::uint32_t kHeader = 32;
  const std::uint64_t size = builder.GetSize() + kHeader;
  const std::uint64_t segment_base = size;
  Bytes bytes(size + 4);
  std::memcpy(bytes.data(), tables, 8);
  std::uint32_t root = 0;
  std::memcpy(&root, tables, 4);
  root += kHeader;
  std::memcpy(bytes.data(), &root, 4);
  std::memcpy(bytes.data() + 8, "eh00", 4);
  std::memcpy(bytes.data() + 12, &kHeader, 4);
  std::memcpy(bytes.data() + 16, &size, 8);
  std::memcpy(bytes.data() + 24, &segment_base, 8);
  std::memcpy(bytes.data() + 8 + kHeader, tables + 8, builder.GetSize() - 8);
  std::memcpy(bytes.data() + size, "DATA", 4);
  return bytes;
}

template <typename T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

TEST(Program, TellsMethodsDelegatesAndKeys) {
  const Bytes bytes = build({});
  const auto program = Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  ASSERT_EQ(program->methods().size(), 1u);
  const auto& method = program->methods()[0];
  EXPECT_EQ(method.name, "forward");
  EXPECT_THAT(method.operators, testing::ElementsAre("aten::abs.out"));
  ASSERT_EQ(method.delegates.size(), 2u);
  EXPECT_EQ(method.delegates[0].backend, "BerthBackend");
  EXPECT_EQ(method.delegates[0].library_key, kLibraryKey);
  EXPECT_EQ(method.delegates[0].weights_key, kWeightsKey);
  EXPECT_EQ(method.delegates[0].instruction_set, "AVX2");
  EXPECT_EQ(method.delegates[1].backend, "XnnpackBackend");
  EXPECT_EQ(method.delegates[1].library_key, "");
  const auto found = program->named_data().find(kLibraryKey);
  ASSERT_NE(found, program->named_data().end());
  EXPECT_EQ(std::memcmp(found->second.data(), "DATA", 4), 0);
}

TEST(Program, TellsWhatAMethodTakes) {
  const Bytes bytes = build({});
  const auto program = Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  const auto& inputs = program->methods()[0].inputs;
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_TRUE(inputs[0].is_known);
  EXPECT_EQ(inputs[0].dtype, DType::kFloat16);
  ASSERT_EQ(inputs[0].sizes.size(), 2u);
  EXPECT_TRUE(inputs[0].sizes[1].is_fixed());
  EXPECT_EQ(inputs[0].sizes[1].most, 3);
  ASSERT_EQ(inputs[1].sizes.size(), 1u);
  EXPECT_TRUE(inputs[1].sizes[0].contains(1));
  EXPECT_FALSE(inputs[1].sizes[0].contains(65));
  EXPECT_FALSE(inputs[2].is_known);
  EXPECT_THAT(program->methods()[0].external_constants,
              testing::ElementsAre("layer.weight"));
}

TEST(Program, AnInputThatIsNoValueIsNotKnown) {
  const Bytes bytes = build({.inputs = {-1, 99}});
  const auto program = Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  for (const TensorSpec& input : program->methods()[0].inputs)
    EXPECT_FALSE(input.is_known);
}

TEST(Program, OlderProgramsHaveTheirMethodsKeys) {
  const Bytes bytes = build({.processed = ""});
  const auto program = Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  EXPECT_EQ(program->methods()[0].delegates[0].library_key, "forward_so_blob");
}

struct Spoiled {
  const char* name;
  Bytes (*make)();
  const char* says;  // The message must contain this.
};

const Spoiled kSpoiled[] = {
    {"Empty", [] { return Bytes(); }, "needs 8 bytes"},
    {"Text",
     [] {
       Bytes bytes(100, std::byte{'x'});
       return bytes;
     },
     "not an ExecuTorch program"},
    {"OnlyTheHead",
     [] {
       Bytes bytes = build({});
       bytes.resize(20);
       return bytes;
     },
     "contradict"},
    {"FlatbufferBeyondTheFile",
     [] {
       Bytes bytes = build({});
       put<std::uint64_t>(bytes, 16, bytes.size() + 1);
       return bytes;
     },
     "header speaks of"},
    {"SegmentsBeyondTheFile",
     [] {
       Bytes bytes = build({});
       put<std::uint64_t>(bytes, 24, ~0ull);
       return bytes;
     },
     "header speaks of"},
    {"HeaderTooShort",
     [] {
       Bytes bytes = build({});
       put<std::uint32_t>(bytes, 12, 8);
       return bytes;
     },
     "header needs 24"},
    {"RootOffsetBeyondTheTables",
     [] {
       Bytes bytes = build({});
       put<std::uint32_t>(bytes, 0, 0x7fffffff);
       return bytes;
     },
     "contradict"},
    {"NamedSegmentThatIsNotThere", [] { return build({.named_segment = 7}); },
     "segment 7 is spoken of, there are 1"},
    {"SegmentSumWraps",
     [] { return build({.segment_offset = ~0ull, .segment_size = 2}); },
     "segment 0 has 2 bytes"},
    {"SegmentOneByteTooLong", [] { return build({.segment_size = 5}); },
     "segment 0 has 5 bytes"},
    {"ProcessedBytesOfThreeLines",
     [] { return build({.processed = "a\nb\nc"}); }, "two lines"},
};

class ProgramRejects : public testing::TestWithParam<Spoiled> {};

TEST_P(ProgramRejects, WithAReason) {
  const Bytes bytes = GetParam().make();
  const auto program = Program::parse(bytes);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code(), Code::kCorrupt);
  EXPECT_THAT(program.error().to_string(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(All, ProgramRejects, testing::ValuesIn(kSpoiled),
                         [](const auto& spoiled) {
                           return spoiled.param.name;
                         });

TEST(Program, EveryCutPointIsAnErrorOrAProgram) {
  const Bytes bytes = build({});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    EXPECT_FALSE(Program::parse(cut).has_value()) << size;
  }
}

TEST(Program, EveryFlippedByteLeavesTheProcessAlive) {
  const Bytes sound = build({});
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    Bytes bytes = sound;
    bytes[i] ^= std::byte{0xff};
    if (!Program::parse(bytes).has_value()) ++refused;
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace berth::executorch
