#include "shim/ops/dnnl_primitive.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "shim/ops/scratch.h"

// libgomp's, which oneDNN runs on. omp.h is not there for every compiler.
extern "C" int omp_get_max_threads();
extern "C" int omp_in_parallel();

namespace berth::shim {
namespace {

constexpr std::size_t kMostArguments = 10;

Status checked(dnnl_status_t status, std::string_view what) {
  if (status == dnnl_success) [[likely]]
    return ok();
  if (status == dnnl_out_of_memory)
    return fail(Code::kOutOfMemory, "oneDNN found no memory for ", what);
  if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
    return fail(Code::kUnsupported, "oneDNN has no ", what, " like this");
  return fail(Code::kInternal, "oneDNN returned ", static_cast<int>(status),
              " for ", what);
}

// One engine serves the process, and is never destroyed.
Result<dnnl_engine_t> engine(const Dnnl& dnnl) {
  struct Made {
    dnnl_engine_t engine = nullptr;
    dnnl_status_t status = dnnl_success;
  };
  static const Made made = [&] {
    Made each;
    each.status = dnnl.engine_create(&each.engine, dnnl_cpu, 0);
    return each;
  }();
  BERTH_CHECK(checked(made.status, "an engine"));
  return made.engine;
}

// Memory comes from the caller of a primitive, so that several may run it.
class Attributes {
 public:
  explicit Attributes(const Dnnl& dnnl)
      : dnnl_(dnnl), status_(dnnl.primitive_attr_create(&made_)) {
    if (status_ == dnnl_success)
      status_ = dnnl.primitive_attr_set_scratchpad_mode(
          made_, dnnl_scratchpad_mode_user);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { dnnl_.primitive_attr_destroy(made_); }

  Result<dnnl_primitive_attr_t> get() const {
    BERTH_CHECK(checked(status_, "attributes"));
    return made_;
  }

 private:
  const Dnnl& dnnl_;
  dnnl_primitive_attr_t made_ = nullptr;
  dnnl_status_t status_;
};

// What a run hands to oneDNN, destroyed with it.
class Execution {
 public:
  explicit Execution(const Dnnl& dnnl) : dnnl_(dnnl) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() {
    for (std::size_t i = 0; i < count_; ++i)
      dnnl_.memory_destroy(arguments_[i].memory);
    if (stream_ != nullptr) dnnl_.stream_destroy(stream_);
  }

  Status add(dnnl_engine_t engine, const DnnlArgument& argument) {
    if (count_ == kMostArguments)
      return fail(Code::kInternal, "more than ", kMostArguments,
                  " arguments for oneDNN");
    dnnl_memory_t memory = nullptr;
    BERTH_CHECK(checked(
        dnnl_.memory_create(&memory, argument.layout, engine, argument.data),
        "an argument"));
    arguments_[count_++] = {argument.index, memory};
    return ok();
  }

  Status run(dnnl_engine_t engine, const_dnnl_primitive_t primitive) {
    BERTH_CHECK(checked(
        dnnl_.stream_create(&stream_, engine, dnnl_stream_default_flags),
        "a stream"));
    BERTH_CHECK(checked(
        dnnl_.primitive_execute(primitive, stream_, static_cast<int>(count_),
                                arguments_.data()),
        "the run of a primitive"));
    return checked(dnnl_.stream_wait(stream_), "the run of a primitive");
  }

 private:
  const Dnnl& dnnl_;
  std::array<dnnl_exec_arg_t, kMostArguments> arguments_{};
  std::size_t count_ = 0;
  dnnl_stream_t stream_ = nullptr;
};

}  // namespace

int dnnl_threads() noexcept {
  return omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
}

Result<DnnlPrimitive> DnnlPrimitive::from(const Dnnl& dnnl,
                                          dnnl_primitive_desc_t description) {
  dnnl_primitive_t primitive = nullptr;
  const dnnl_status_t status = dnnl.primitive_create(&primitive, description);
  dnnl.primitive_desc_destroy(description);
  BERTH_CHECK(checked(status, "primitive"));
  return DnnlPrimitive(dnnl, primitive);
}

Result<DnnlPrimitive> DnnlPrimitive::make(const_dnnl_op_desc_t operation) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  BERTH_TRY(const dnnl_engine_t cpu, engine(*dnnl));
  const Attributes attributes(*dnnl);
  BERTH_TRY(const dnnl_primitive_attr_t with, attributes.get());
  dnnl_primitive_desc_t description = nullptr;
  BERTH_CHECK(checked(
      dnnl->primitive_desc_create(&description, operation, with, cpu, nullptr),
      "primitive"));
  return from(*dnnl, description);
}

Result<DnnlPrimitive> DnnlPrimitive::reorder(const dnnl_memory_desc_t& source,
                                             const dnnl_memory_desc_t& target) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  BERTH_TRY(const dnnl_engine_t cpu, engine(*dnnl));
  const Attributes attributes(*dnnl);
  BERTH_TRY(const dnnl_primitive_attr_t with, attributes.get());
  dnnl_primitive_desc_t description = nullptr;
  BERTH_CHECK(checked(dnnl->reorder_primitive_desc_create(
                          &description, &source, cpu, &target, cpu, with),
                      "reorder"));
  return from(*dnnl, description);
}

DnnlPrimitive::DnnlPrimitive(DnnlPrimitive&& other) noexcept
    : dnnl_(other.dnnl_), primitive_(other.primitive_) {
  other.primitive_ = nullptr;
}

DnnlPrimitive::~DnnlPrimitive() {
  if (primitive_ != nullptr) dnnl_->primitive_destroy(primitive_);
}

const dnnl_memory_desc_t& DnnlPrimitive::layout(int argument) const noexcept {
  const_dnnl_primitive_desc_t description = nullptr;
  dnnl_->primitive_get_primitive_desc(primitive_, &description);
  return *dnnl_->primitive_desc_query_md(description, dnnl_query_exec_arg_md,
                                         argument);
}

bool DnnlPrimitive::is_reference() const noexcept {
  const_dnnl_primitive_desc_t description = nullptr;
  dnnl_->primitive_get_primitive_desc(primitive_, &description);
  const char* name = "";
  dnnl_->primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name);
  return std::string_view(name).find("ref") != std::string_view::npos;
}

Status DnnlPrimitive::run(std::span<const DnnlArgument> arguments) const {
  BERTH_TRY(const dnnl_engine_t cpu, engine(*dnnl_));
  const dnnl_memory_desc_t& pad = layout(DNNL_ARG_SCRATCHPAD);
  const std::size_t bytes = dnnl_->memory_desc_get_size(&pad);
  BERTH_TRY(const Scratch<std::byte> scratch,
            Scratch<std::byte>::of(static_cast<std::int64_t>(bytes)));
  Execution execution(*dnnl_);
  for (const DnnlArgument& argument : arguments)
    BERTH_CHECK(execution.add(cpu, argument));
  if (bytes > 0)
    BERTH_CHECK(
        execution.add(cpu, {DNNL_ARG_SCRATCHPAD, &pad, scratch.data()}));
  return execution.run(cpu, primitive_);
}

Result<dnnl_memory_desc_t> dnnl_layout(std::span<const std::int64_t> sizes,
                                       std::span<const std::int64_t> strides,
                                       dnnl_data_type_t type) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  dnnl_memory_desc_t out;
  BERTH_CHECK(checked(
      dnnl->memory_desc_init_by_strides(&out, static_cast<int>(sizes.size()),
                                        sizes.data(), type, strides.data()),
      "layout"));
  return out;
}

Result<dnnl_memory_desc_t> dnnl_layout(std::span<const std::int64_t> sizes,
                                       dnnl_format_tag_t tag,
                                       dnnl_data_type_t type) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  dnnl_memory_desc_t out;
  BERTH_CHECK(checked(
      dnnl->memory_desc_init_by_tag(&out, static_cast<int>(sizes.size()),
                                    sizes.data(), type, tag),
      "layout"));
  return out;
}

}  // namespace berth::shim
