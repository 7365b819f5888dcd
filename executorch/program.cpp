#include "executorch/program.h"

#include <program_generated.h>

#include <cstring>
#include <optional>

#include "berth/executorch.h"
#include "executorch/payload.h"

namespace berth::executorch {
namespace {

namespace schema = ::executorch_flatbuffer;
using Bytes = std::span<const std::byte>;

// Where the parts of a program lie: the flatbuffer first, then the segments.
// The extended header stands at offset 8, after flatbuffers' own two words:
// magic "eh00", u32 header length, u64 flatbuffer size, u64 segment offset.
struct Layout {
  std::uint64_t flatbuffer_size = 0;
  std::uint64_t segments_offset = 0;  // 0 when there are no segments.
};

constexpr std::size_t kHeaderOffset = 8;
constexpr std::size_t kHeaderSize = 24;

template <typename T>
T load(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The subspan, or nothing when it does not lie inside. Subtracts, so that
// hostile sums cannot wrap.
std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset,
                           std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return std::nullopt;
  return bytes.subspan(offset, size);
}

Result<Layout> read_layout(Bytes bytes) {
  Layout layout;
  layout.flatbuffer_size = bytes.size();
  if (bytes.size() < kHeaderOffset + kHeaderSize ||
      std::memcmp(bytes.data() + kHeaderOffset, "eh00", 4) != 0)
    return layout;  // A program from before the header, without segments.
  const auto length = load<std::uint32_t>(bytes, kHeaderOffset + 4);
  if (length < kHeaderSize)
    return fail(Code::kCorrupt, "the program's header needs ", kHeaderSize,
                " bytes, it says ", length);
  layout.flatbuffer_size = load<std::uint64_t>(bytes, kHeaderOffset + 8);
  layout.segments_offset = load<std::uint64_t>(bytes, kHeaderOffset + 16);
  if (layout.flatbuffer_size > bytes.size() ||
      layout.segments_offset > bytes.size())
    return fail(Code::kCorrupt, "the program's header speaks of ",
                layout.flatbuffer_size, " bytes and of segments from ",
                layout.segments_offset, ", the file has ", bytes.size());
  return layout;
}

std::string text_of(const flatbuffers::String* text) {
  return text != nullptr ? text->str() : std::string();
}

// A segment's bytes.
Result<Bytes> segment(const schema::Program& program, Bytes bytes,
                      const Layout& layout, std::uint32_t index) {
  const auto* segments = program.segments();
  const std::uint32_t count = segments != nullptr ? segments->size() : 0;
  if (index >= count)
    return fail(Code::kCorrupt, "segment ", index, " is spoken of, there are ",
                count);
  const auto* entry = segments->Get(index);
  const Bytes all = bytes.subspan(layout.segments_offset);
  const auto found = slice(all, entry->offset(), entry->size());
  if (!found)
    return fail(Code::kCorrupt, "segment ", index, " has ", entry->size(),
                " bytes from ", entry->offset(), ", ", all.size(),
                " are there");
  return *found;
}

Result<std::string> processed_bytes(const schema::Program& program, Bytes bytes,
                                    const Layout& layout,
                                    const schema::BackendDelegate& delegate) {
  const auto* reference = delegate.processed();
  if (reference == nullptr) return std::string();
  if (reference->location() == schema::DataLocation::SEGMENT) {
    BERTH_TRY(const Bytes found,
              segment(program, bytes, layout, reference->index()));
    return std::string(reinterpret_cast<const char*>(found.data()),
                       found.size());
  }
  const auto* data = program.backend_delegate_data();
  const std::uint32_t count = data != nullptr ? data->size() : 0;
  if (reference->index() >= count)
    return fail(Code::kCorrupt, "delegate data ", reference->index(),
                " is spoken of, there are ", count);
  const auto* found = data->Get(reference->index())->data();
  if (found == nullptr) return std::string();
  return std::string(reinterpret_cast<const char*>(found->data()),
                     found->size());
}

std::string instruction_set_of(const schema::BackendDelegate& delegate) {
  if (delegate.compile_specs() == nullptr) return {};
  for (const auto* spec : *delegate.compile_specs()) {
    if (text_of(spec->key()) == "instruction_set" && spec->value() != nullptr)
      return std::string(reinterpret_cast<const char*>(spec->value()->data()),
                         spec->value()->size());
  }
  return {};
}

// The root table, after all that it leads to was checked.
Result<const schema::Program*> verified_root(Bytes bytes,
                                             const Layout& layout) {
  const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
  // Bounds on what a hostile file can make the verifier do.
  constexpr flatbuffers::uoffset_t kMaxDepth = 64;
  constexpr flatbuffers::uoffset_t kMaxTables = 10'000'000;
  constexpr std::uint64_t kMaxFlatbuffer = (std::uint64_t{1} << 31) - 1;
  if (layout.flatbuffer_size < kHeaderOffset ||
      layout.flatbuffer_size > kMaxFlatbuffer)
    return fail(Code::kCorrupt, "a program needs ", kHeaderOffset,
                " bytes or more, found ", layout.flatbuffer_size);
  if (!schema::ProgramBufferHasIdentifier(start))
    return fail(Code::kCorrupt,
                "not an ExecuTorch program: bytes 4 to 7 "
                "should be '",
                schema::ProgramIdentifier(), "', found ",
                quoted_key(std::string_view(
                    reinterpret_cast<const char*>(start) + 4, 4)));
  flatbuffers::Verifier verifier(start, layout.flatbuffer_size, kMaxDepth,
                                 kMaxTables);
  if (!schema::VerifyProgramBuffer(verifier))
    return fail(Code::kCorrupt, "the program's ", layout.flatbuffer_size,
                " bytes of tables contradict themselves");
  return schema::GetProgram(start);
}

Result<Program::Delegate> read_delegate(const schema::Program& root,
                                        Bytes bytes, const Layout& layout,
                                        const schema::BackendDelegate& entry,
                                        const Program& program,
                                        const std::string& method) {
  Program::Delegate delegate;
  delegate.backend = text_of(entry.id());
  if (delegate.backend != kBackendName) return delegate;
  BERTH_TRY(const std::string processed,
            processed_bytes(root, bytes, layout, entry));
  BERTH_TRY(const Payload payload, Payload::parse(processed, method));
  // The first that is here; else the first, which a .ptd may hold.
  const Keys* keys = &payload.candidates().front();
  for (const Keys& candidate : payload.candidates()) {
    if (!program.named_data().contains(candidate.library)) continue;
    keys = &candidate;
    break;
  }
  delegate.library_key = keys->library;
  delegate.weights_key = keys->weights;
  delegate.instruction_set = instruction_set_of(entry);
  return delegate;
}

std::vector<std::string> operators_of(const schema::ExecutionPlan& plan) {
  std::vector<std::string> operators;
  if (plan.operators() == nullptr) return operators;
  for (const auto* op : *plan.operators()) {
    const std::string overload = text_of(op->overload());
    operators.push_back(text_of(op->name()) +
                        (overload.empty() ? "" : "." + overload));
  }
  return operators;
}

// A value of the plan, if it is a tensor.
const schema::Tensor* tensor_at(const schema::ExecutionPlan& plan,
                                std::int64_t index) {
  const auto* values = plan.values();
  if (values == nullptr || index < 0 || index >= values->size()) return nullptr;
  return values->Get(static_cast<std::uint32_t>(index))->val_as_Tensor();
}

// Of sizes that may vary the program tells the largest.
TensorSpec spec_of(const schema::Tensor& tensor) {
  TensorSpec spec;
  spec.is_known = true;
  spec.dtype = static_cast<DType>(tensor.scalar_type());
  if (tensor.sizes() == nullptr) return spec;
  const bool is_fixed =
      tensor.shape_dynamism() == schema::TensorShapeDynamism::STATIC;
  for (const std::int32_t size : *tensor.sizes()) {
    spec.sizes.push_back({is_fixed ? size : 0, size});
    spec.strides.push_back(TensorSpec::kVaries);
  }
  return spec;
}

std::vector<TensorSpec> inputs_of(const schema::ExecutionPlan& plan) {
  std::vector<TensorSpec> inputs;
  if (plan.inputs() == nullptr) return inputs;
  // Not known are those that are no tensors.
  for (const std::int32_t index : *plan.inputs()) {
    const schema::Tensor* tensor = tensor_at(plan, index);
    inputs.push_back(tensor != nullptr ? spec_of(*tensor) : TensorSpec());
    inputs.back().name = std::to_string(inputs.size() - 1);
  }
  return inputs;
}

std::vector<std::string> external_constants_of(
    const schema::ExecutionPlan& plan) {
  std::vector<std::string> keys;
  const std::int64_t count =
      plan.values() != nullptr ? plan.values()->size() : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const schema::Tensor* tensor = tensor_at(plan, i);
    const auto* extra =
        tensor != nullptr ? tensor->extra_tensor_info() : nullptr;
    if (extra != nullptr &&
        extra->location() == schema::TensorDataLocation::EXTERNAL)
      keys.push_back(text_of(extra->fully_qualified_name()));
  }
  return keys;
}

}  // namespace

Result<Program> Program::parse(Bytes bytes) {
  BERTH_TRY(const Layout layout, read_layout(bytes));
  BERTH_TRY(const schema::Program* const found, verified_root(bytes, layout));
  const schema::Program& root = *found;

  Program program;
  if (root.named_data() != nullptr) {
    for (const auto* entry : *root.named_data()) {
      BERTH_TRY(const Bytes data,
                noted(segment(root, bytes, layout, entry->segment_index()),
                      "reading the named data of key " +
                          quoted_key(text_of(entry->key()))));
      program.named_data_.emplace(text_of(entry->key()), data);
    }
  }
  if (root.execution_plan() == nullptr) return program;
  for (const auto* plan : *root.execution_plan()) {
    Method method{text_of(plan->name()),
                  {},
                  operators_of(*plan),
                  inputs_of(*plan),
                  external_constants_of(*plan)};
    if (plan->delegates() != nullptr) {
      for (const auto* entry : *plan->delegates()) {
        BERTH_TRY(Delegate delegate,
                  noted(read_delegate(root, bytes, layout, *entry, program,
                                      method.name),
                        "reading a delegate of method '" + method.name + "'"));
        method.delegates.push_back(std::move(delegate));
      }
    }
    program.methods_.push_back(std::move(method));
  }
  return program;
}

}  // namespace berth::executorch
