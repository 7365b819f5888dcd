#include "model/process_host.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "base/cpu.h"
#include "shim/served.h"
#include "shim/sleef.h"

namespace berth::model {

bool ProcessHost::serves(std::string_view import) const {
  return shim::find_served(import) != nullptr || shim::serves_sleef(import) ||
         import == "__cxa_thread_atexit" || import == "getenv";
}

bool ProcessHost::resolves(std::string_view symbol,
                           std::string_view version) const {
  // RTLD_DEFAULT of a library that was loaded RTLD_LOCAL also covers that
  // library's dependencies, Berth's C++ and OpenMP run times among them. What
  // only the image's own dependencies have is found through them.
  const std::string name(symbol);
  const std::string wanted(version);
  const auto in = [&](void* scope) {
    return (wanted.empty()
                ? ::dlsym(scope, name.c_str())
                : ::dlvsym(scope, name.c_str(), wanted.c_str())) != nullptr;
  };
  return in(RTLD_DEFAULT) || std::ranges::any_of(opened_, in);
}

ProcessHost::~ProcessHost() {
  for (void* handle : opened_) ::dlclose(handle);
}

bool ProcessHost::has_library(std::string_view needed) const {
  // Opening is what the loader would do next anyway, and the only way to ask it
  // along its own search path.
  void* handle = ::dlopen(std::string(needed).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  opened_.push_back(handle);
  return true;
}

bool ProcessHost::runs(std::string_view instruction_set) const {
  static const base::CpuFeatures features =
      base::CpuFeatures::of_this_machine();
  return base::first_unsupported(instruction_set, features).empty();
}

}  // namespace berth::model
