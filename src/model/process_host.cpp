#include "model/process_host.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/cpu.h"
#include "library/loaded_object.h"
#include "shim/served.h"
#include "shim/sleef.h"

namespace berth::model {
namespace {

// What this process was found to have, so that the next library of the same
// compiler is not asked about again. What is gone meanwhile is the loader's to
// miss: it refuses such a library with a clear text.
class Known {
 public:
  static Known& instance() {
    static auto* known = new Known;  // Models are loaded by static destructors.
    return *known;
  }

  // True when `has` was true of this before, or is now.
  template <typename Has>
  bool check(char kind, std::string_view name, std::string_view version,
             Has&& has) {
    // Reused: hundreds are asked about for each library.
    thread_local std::string what;
    what.assign(1, kind).append(name).append(1, '@').append(version);
    {
      const std::lock_guard lock(mutex_);
      if (known_.contains(what)) return true;
    }
    if (!has()) return false;
    const std::lock_guard lock(mutex_);
    known_.insert(what);
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> known_;
};

bool finds(void* scope, const std::string& name, const std::string& version) {
  return (version.empty()
              ? ::dlsym(scope, name.c_str())
              : ::dlvsym(scope, name.c_str(), version.c_str())) != nullptr;
}

}  // namespace

bool ProcessHost::serves(std::string_view import) const {
  // What it would call is only known of libraries in packages.
  if (import == "aoti_torch_proxy_executor_call_function" && calls_ == nullptr)
    return false;
  return shim::find_served(import) != nullptr || shim::serves_sleef(import) ||
         import == "__cxa_thread_atexit" || import == "getenv" ||
         import == "_ZSt4cerr";
}

bool ProcessHost::resolves(std::string_view symbol,
                           std::string_view version) const {
  // RTLD_DEFAULT of a library that was loaded RTLD_LOCAL also covers that
  // library's dependencies, Berth's C++ and OpenMP run times among them.
  if (Known::instance().check('s', symbol, version, [&] {
        return finds(RTLD_DEFAULT, std::string(symbol), std::string(version));
      }))
    return true;
  // What only the image's own dependencies have is found through them.
  for (const std::string& needed : std::exchange(unopened_, {})) {
    void* handle = ::dlopen(needed.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle != nullptr) opened_.push_back(handle);
  }
  const std::string name(symbol);
  const std::string wanted(version);
  return std::ranges::any_of(
      opened_, [&](void* handle) { return finds(handle, name, wanted); });
}

ProcessHost::~ProcessHost() {
  for (void* handle : opened_) ::dlclose(handle);
}

bool ProcessHost::has_library(std::string_view needed) const {
  std::string name(needed);
  if (Known::instance().check('l', needed, "",
                              [&] { return library::is_loaded(needed); })) {
    unopened_.push_back(std::move(name));
    return true;
  }
  // Opening is what the loader would do next anyway, and the only way to ask it
  // along its own search path.
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  opened_.push_back(handle);
  return true;
}

bool ProcessHost::has_version(std::string_view needed,
                              std::string_view version) const {
  return Known::instance().check('v', needed, version, [&] {
    return library::defines_version(needed, version);
  });
}

std::vector<std::string> ProcessHost::missing_operators() const {
  return calls_ != nullptr ? calls_->missing() : std::vector<std::string>();
}

bool ProcessHost::runs(std::string_view instruction_set) const {
  static const base::CpuFeatures features =
      base::CpuFeatures::of_this_machine();
  return base::first_unsupported(instruction_set, features).empty();
}

}  // namespace berth::model
