#include "shim/sleef.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string>

// Defined in sleef_stubs.S: where stub i jumps to. Written at most a few times,
// before any library that calls the stub is mapped.
extern "C" std::atomic<void*> berth_sleef_slots[];

namespace berth::shim {
namespace {

constexpr std::string_view kPrefix = "Sleef_";

// sleef.inc is made when the project is configured: the functions of libsleef,
// sorted. It is empty where there is none. The first row is never a name.
constexpr std::string_view kNames[] = {
    "",
#define BERTH_SLEEF(name) #name,
#include "shim/sleef.inc"
#undef BERTH_SLEEF
};
static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));

Result<void*> libsleef() {
  // The version in the name is the ABI that the stubs were listed from.
  static void* const loaded = ::dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr)
    return fail(Code::kSystem,
                "vector math needs libsleef.so.3, which cannot be loaded; "
                "install libsleef3");
  return loaded;
}

}  // namespace

Status bind_sleef(std::string_view name) {
  const std::string_view rest =
      name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
  const auto* row =
      std::lower_bound(std::begin(kNames) + 1, std::end(kNames), rest);
  if (rest.empty() || row == std::end(kNames) || *row != rest)
    return fail(Code::kNotFound, "'", name,
                "' is none of the vector functions of libsleef");
  BERTH_TRY(void* library, libsleef());
  void* function = ::dlsym(library, std::string(name).c_str());
  if (function == nullptr)
    return fail(Code::kNotFound, "libsleef.so.3 has no function '", name, "'");
  berth_sleef_slots[row - std::begin(kNames)].store(function,
                                                    std::memory_order_release);
  return ok();
}

bool serves_sleef(std::string_view name) {
  return name.starts_with(kPrefix) && bind_sleef(name).has_value();
}

}  // namespace berth::shim
