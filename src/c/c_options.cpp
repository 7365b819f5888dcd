#include "c/c_options.h"

#include "c/sized.h"

namespace berth::c {
namespace {

static_assert(static_cast<int>(Placement::kDefault) == 0);
static_assert(static_cast<int>(Placement::kAutomatic) == 1);
static_assert(static_cast<int>(Placement::kFile) == 2);
static_assert(static_cast<int>(Placement::kMemory) == 3);

void set(std::string& option, const char* given) {
  if (given != nullptr) option = given;
}

Status check_range(std::int32_t found, std::int32_t most, const char* field) {
  if (found >= 0 && found <= most) return ok();
  return fail(Code::kInvalidArgument, "the option '", field, "' is ", found,
              ", expected 0 to ", most);
}

}  // namespace

Result<ModelOptions> read_options(const berth_options* given) {
  ModelOptions options;
  if (given == nullptr) return options;
  BERTH_TRY(const berth_options known, read_struct(given, "options"));
  BERTH_CHECK(check_range(known.placement, 3, "placement"));
  BERTH_CHECK(check_range(known.keep_files, 1, "keep_files"));
  BERTH_CHECK(check_range(known.fail_if_busy, 1, "fail_if_busy"));
  set(options.model_name, known.model_name);
  set(options.label, known.label);
  set(options.temp_directory, known.temp_directory);
  set(options.file_prefix, known.file_prefix);
  set(options.instruction_set, known.instruction_set);
  if (known.replicas != 0) options.replicas = known.replicas;
  options.keep_files = known.keep_files == 1;
  options.placement = static_cast<Placement>(known.placement);
  options.when_busy =
      known.fail_if_busy == 1 ? WhenBusy::kFail : WhenBusy::kWait;
  return options;
}

}  // namespace berth::c
