#include "model/container.h"

#include <array>
#include <utility>

#include "base/checked.h"
#include "shim/handle.h"
#include "shim/reason.h"
#include "shim/standard_error.h"

namespace berth::model {
namespace {

constexpr std::array<std::string_view, 8> kEntryPoints = {
    abi::kCreateWithDevice, abi::kDelete,         abi::kRun,
    abi::kGetNumInputs,     abi::kGetNumOutputs,  abi::kGetInputName,
    abi::kGetOutputName,    abi::kGetNumConstants};

// Before a call whose failure is to be explained.
void forget_reasons() noexcept {
  shim::clear_reason();
  shim::clear_printed();
}

void release(std::span<AtenTensorHandle> handles) noexcept {
  for (AtenTensorHandle& handle : handles) {
    if (handle != nullptr) shim::discard(std::exchange(handle, nullptr));
  }
}

}  // namespace

std::span<const std::string_view> Container::entry_points() noexcept {
  return kEntryPoints;
}

Result<Container> Container::create(const library::Library& library) {
  Container container;
  BERTH_CHECK(container.bind(library));
  forget_reasons();
  abi::ContainerHandle handle = nullptr;
  const abi::Error code =
      container.functions_.create(&handle, 1, "cpu", nullptr);
  if (code != abi::kSuccess || handle == nullptr)
    return container.failed(abi::kCreateWithDevice, code);
  container.handle_.reset(handle);
  BERTH_CHECK(container.read_names());
  return container;
}

Status Container::bind(const library::Library& library) {
  Functions& f = functions_;
  BERTH_TRY(f.create,
            library.symbol<abi::CreateWithDevice>(abi::kCreateWithDevice));
  BERTH_TRY(handle_.get_deleter(), library.symbol<abi::Delete>(abi::kDelete));
  BERTH_TRY(f.run, library.symbol<abi::Run>(abi::kRun));
  BERTH_TRY(f.input_count, library.symbol<abi::GetCount>(abi::kGetNumInputs));
  BERTH_TRY(f.output_count, library.symbol<abi::GetCount>(abi::kGetNumOutputs));
  BERTH_TRY(f.input_name, library.symbol<abi::GetName>(abi::kGetInputName));
  BERTH_TRY(f.output_name, library.symbol<abi::GetName>(abi::kGetOutputName));
  BERTH_TRY(f.constant_count,
            library.symbol<abi::GetCount>(abi::kGetNumConstants));
  f.constant_size =
      library.find_symbol<abi::GetConstantDataSize>(abi::kGetConstantDataSize);
  f.constant_folded = library.find_symbol<abi::GetConstantFromFolded>(
      abi::kGetConstantFromFolded);
  f.present_constants = library.find_symbol<abi::ExtractConstantsMapEntries>(
      abi::kExtractConstantsMapEntries);
  f.update_constants = library.find_symbol<abi::UpdateConstantsFromBlob>(
      abi::kUpdateConstantsFromBlob);
  f.constant_source_name =
      library.find_symbol<abi::GetName>(abi::kGetConstantOriginalFQN);
  f.constant_dtype =
      library.find_symbol<abi::GetConstantDtype>(abi::kGetConstantDtype);
  f.call_spec = library.find_symbol<abi::GetCallSpec>(abi::kGetCallSpec);
  f.constant_name = library.find_symbol<abi::GetName>(abi::kGetConstantName);
  f.borrow_constants = library.find_symbol<abi::UpdateUserManagedPairs>(
      abi::kUpdateUserManagedPairs);
  f.swap_constants =
      library.find_symbol<abi::SwapConstantBuffer>(abi::kSwapConstantBuffer);
  f.free_inactive = library.find_symbol<abi::FreeInactiveConstantBuffer>(
      abi::kFreeInactiveConstantBuffer);
  f.last_error = library.find_symbol<abi::GetLastError>(abi::kGetLastError);
  return ok();
}

tl::unexpected<Error> Container::failed(std::string_view function,
                                        abi::Error code) const {
  std::string text;
  const char* last = nullptr;
  if (functions_.last_error != nullptr &&
      functions_.last_error(&last) == abi::kSuccess && last != nullptr &&
      *last != '\0')
    text = std::string(": ") + last;
  const std::string printed = shim::take_printed();
  if (text.empty() && !printed.empty()) text = ": " + printed;
  const std::string reason = shim::take_reason();
  if (!reason.empty()) text += "; because " + reason;
  return fail(Code::kDelegate, function, " returned ", code, text);
}

Status Container::read_names() {
  const auto read = [this](std::string_view what, abi::GetCount* count_of,
                           abi::GetName* name_of,
                           std::vector<std::string>& names) -> Status {
    std::size_t count = 0;
    if (const auto code = count_of(handle_.get(), &count))
      return failed(std::string("counting ").append(what), code);
    for (std::size_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      if (const auto code = name_of(handle_.get(), i, &name))
        return failed(std::string("naming ").append(what), code);
      names.emplace_back(name != nullptr ? name : "");
    }
    return ok();
  };
  BERTH_CHECK(
      read("inputs", functions_.input_count, functions_.input_name, inputs_));
  BERTH_CHECK(read("outputs", functions_.output_count, functions_.output_name,
                   outputs_));
  if (functions_.call_spec == nullptr) return ok();
  const char* inputs = nullptr;
  const char* outputs = nullptr;
  if (const auto code = functions_.call_spec(handle_.get(), &inputs, &outputs))
    return failed(abi::kGetCallSpec, code);
  if (inputs != nullptr) call_spec_.inputs = inputs;
  if (outputs != nullptr) call_spec_.outputs = outputs;
  return ok();
}

Result<std::vector<std::size_t>> Container::unfolded_constants() const {
  std::size_t count = 0;
  if (const auto code = functions_.constant_count(handle_.get(), &count))
    return failed(abi::kGetNumConstants, code);
  std::vector<std::size_t> unfolded;
  for (std::size_t i = 0; i < count; ++i) {
    bool folded = false;
    if (functions_.constant_folded != nullptr) {
      if (const auto code =
              functions_.constant_folded(handle_.get(), i, &folded))
        return failed(abi::kGetConstantFromFolded, code);
    }
    if (!folded) unfolded.push_back(i);
  }
  return unfolded;
}

Result<std::string> Container::constant_text(abi::GetName* function,
                                             const char* called,
                                             std::size_t i) const {
  const char* text = nullptr;
  if (const auto code = function(handle_.get(), i, &text))
    return failed(called, code);
  return std::string(text != nullptr ? text : "");
}

Result<Container::Constants> Container::wanted_constants() const {
  BERTH_TRY(const auto unfolded, unfolded_constants());
  Constants wanted{unfolded.size(), 0};
  if (functions_.constant_size == nullptr) return wanted;
  for (const std::size_t i : unfolded) {
    std::size_t size = 0;
    if (const auto code = functions_.constant_size(handle_.get(), i, &size))
      return failed(abi::kGetConstantDataSize, code);
    const auto sum = base::sum(wanted.size_bytes, size);
    if (!sum)
      return fail(Code::kCorrupt, "the sizes of ", wanted.count,
                  " constants add up to more than memory can hold");
    wanted.size_bytes = *sum;
  }
  return wanted;
}

Result<std::span<const abi::ConstantMapEntry>> Container::present_constants(
    bool inactive) const {
  const abi::ConstantMapEntry* entries = nullptr;
  std::size_t count = 0;
  if (const auto code = functions_.present_constants(handle_.get(), &entries,
                                                     &count, inactive))
    return failed(abi::kExtractConstantsMapEntries, code);
  return std::span(entries, count);
}

Status Container::give_constants(const Weights& weights) {
  forget_reasons();
  BERTH_TRY(const Constants wanted, wanted_constants());
  const base::Bytes blob = weights.blob();
  const bool given = weights.are_named() || !blob.empty();
  // A library from before these functions does not tell what it holds: it needs
  // what the caller has.
  const bool can_tell = functions_.present_constants != nullptr &&
                        functions_.constant_size != nullptr;
  std::size_t present = given ? 0 : wanted.count;
  if (can_tell) {
    BERTH_TRY(const auto entries, present_constants());
    present = entries.size();
  }
  if (present == wanted.count) {
    // A package may also have a name for each of no constants.
    if (!given || (weights.are_named() && wanted.count == 0)) return ok();
    return fail(Code::kInvalidArgument, "the library holds all of its ",
                wanted.count, " constants itself, but ",
                weights.are_named()
                    ? std::string("others")
                    : std::to_string(blob.size()) + " bytes of weights",
                " were given");
  }
  if (!given)
    return fail(Code::kNotFound, "the library needs ", wanted.size_bytes,
                " bytes of weights for ", wanted.count,
                " constants, and none were given");
  if (weights.are_named()) return give_named(weights);
  if (functions_.update_constants == nullptr ||
      functions_.constant_size == nullptr)
    return fail(Code::kIncompatible, "the library needs weights and lacks ",
                abi::kUpdateConstantsFromBlob, ": it was compiled by a torch ",
                "before 2.11");
  if (blob.size() != wanted.size_bytes)
    return fail(Code::kInvalidArgument, "the library needs ", wanted.size_bytes,
                " bytes of weights for ", wanted.count, " constants, found ",
                blob.size());
  if (const auto code = functions_.update_constants(
          handle_.get(), reinterpret_cast<const std::uint8_t*>(blob.data())))
    return failed(abi::kUpdateConstantsFromBlob, code);
  if (!can_tell) return ok();
  BERTH_TRY(const auto taken, present_constants());
  if (taken.size() != wanted.count)
    return fail(Code::kIncompatible, "the library took ", taken.size(),
                " of its ", wanted.count, " constants from the weights");
  return ok();
}

Status Container::give_named(const Weights& weights) {
  if (!can_share_constants() || functions_.constant_source_name == nullptr ||
      functions_.constant_dtype == nullptr)
    return fail(Code::kIncompatible,
                "the library cannot take its constants one by one: it was "
                "compiled by a torch before 2.13");
  BERTH_TRY(const auto unfolded, unfolded_constants());
  std::vector<NamedConstant> constants;
  for (const std::size_t i : unfolded) {
    BERTH_TRY(auto name, constant_text(functions_.constant_name,
                                       abi::kGetConstantName, i));
    BERTH_TRY(const auto source,
              constant_text(functions_.constant_source_name,
                            abi::kGetConstantOriginalFQN, i));
    std::int32_t dtype = 0;
    if (const auto code = functions_.constant_dtype(handle_.get(), i, &dtype))
      return failed(abi::kGetConstantDtype, code);
    BERTH_TRY(Tensor tensor, weights.read(source, static_cast<DType>(dtype)));
    constants.push_back({std::move(name), std::move(tensor)});
  }
  BERTH_TRY(const SharedConstants shared, SharedConstants::copy_of(constants));
  BERTH_TRY(LentConstants lent, shared.lend());
  return borrow_constants(std::move(lent));
}

bool Container::can_share_constants() const {
  const Functions& f = functions_;
  return f.present_constants != nullptr && f.constant_name != nullptr &&
         f.borrow_constants != nullptr && f.swap_constants != nullptr &&
         f.free_inactive != nullptr;
}

Result<std::vector<NamedConstant>> Container::constants() const {
  forget_reasons();
  BERTH_TRY(const auto unfolded, unfolded_constants());
  BERTH_TRY(const auto present, present_constants());
  if (present.size() < unfolded.size())
    return fail(Code::kIncompatible, "the library holds only ", present.size(),
                " of its ", unfolded.size(), " constants");
  std::vector<NamedConstant> found;
  for (const std::size_t i : unfolded) {
    BERTH_TRY(auto name, constant_text(functions_.constant_name,
                                       abi::kGetConstantName, i));
    BERTH_TRY(const Tensor* tensor, shim::borrow(present[found.size()].handle));
    found.push_back({std::move(name), *tensor});
  }
  return found;
}

Status Container::borrow_constants(LentConstants constants) {
  forget_reasons();
  lent_.emplace(std::move(constants));
  const auto entries = lent_->entries();
  // A library with its constants inside has copied them to the heap when it was
  // created. The other set takes the lent ones then, and the copies go.
  BERTH_TRY(const auto own, present_constants());
  const bool inside = !own.empty();
  const abi::Error code = functions_.borrow_constants(
      handle_.get(), entries.data(), entries.size(), inside, true);
  // Even if that failed half way: it has made handles all the same.
  BERTH_TRY(const auto held, present_constants(inside));
  lent_->note_held(held);
  if (code != abi::kSuccess) return failed(abi::kUpdateUserManagedPairs, code);
  if (held.size() != entries.size())
    return fail(Code::kIncompatible, "the library took ", held.size(),
                " of the ", entries.size(), " constants that were lent to it");
  if (!inside) return ok();
  if (const auto swapped = functions_.swap_constants(handle_.get()))
    return failed(abi::kSwapConstantBuffer, swapped);
  if (const auto freed = functions_.free_inactive(handle_.get()))
    return failed(abi::kFreeInactiveConstantBuffer, freed);
  return ok();
}

Status Container::run(std::span<AtenTensorHandle> inputs,
                      std::span<AtenTensorHandle> outputs,
                      const shim::ProxyExecutor* operators) {
  for (AtenTensorHandle& output : outputs) output = nullptr;
  forget_reasons();
  const abi::Error code =
      functions_.run(handle_.get(), inputs.data(), inputs.size(),
                     outputs.data(), outputs.size(), nullptr,
                     reinterpret_cast<abi::ProxyExecutorHandle>(
                         const_cast<shim::ProxyExecutor*>(operators)));
  // The library nulls the slots that it took; it takes none when its own checks
  // refuse the inputs.
  release(inputs);
  if (code == abi::kSuccess) return ok();
  release(outputs);
  return failed("the run", code);
}

}  // namespace berth::model
