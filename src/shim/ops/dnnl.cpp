#include "shim/ops/dnnl.h"

#include <dlfcn.h>

#define BERTH_STRING_(x) #x
#define BERTH_STRING(x) BERTH_STRING_(x)

namespace berth::shim {
namespace {

// Its major version is its ABI's.
constexpr const char* kLibrary = "libdnnl.so." BERTH_STRING(DNNL_VERSION_MAJOR);

struct Loaded {
  Dnnl functions;
  bool opened = false;
  const char* missing = nullptr;  // The first function that it lacks.
};

template <typename Function>
void find(void* library, const char* name, Function*& function,
          const char*& missing) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr && missing == nullptr) missing = name;
}

Loaded load() {
  int flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  // Sanitizers end a process that binds like this, past their interceptors.
  if (::dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != nullptr)
    flags &= ~RTLD_DEEPBIND;
  Loaded loaded;
  void* library = ::dlopen(kLibrary, flags);
  if (library == nullptr) return loaded;
  loaded.opened = true;
#define BERTH_DNNL_FIND(name) \
  find(library, "dnnl_" #name, loaded.functions.name, loaded.missing);
  BERTH_DNNL_FUNCTIONS(BERTH_DNNL_FIND)
#undef BERTH_DNNL_FIND
  return loaded;
}

}  // namespace

Result<const Dnnl*> find_dnnl() {
  static const Loaded loaded = load();
  if (!loaded.opened)
    return fail(Code::kSystem,
                "large matrix products, convolutions and LSTM need ", kLibrary,
                ", which cannot be loaded; install libdnnl",
                DNNL_VERSION_MAJOR);
  if (loaded.missing != nullptr)
    return fail(Code::kSystem, kLibrary, " lacks ", loaded.missing,
                "; install oneDNN ", DNNL_VERSION_MAJOR, ".",
                DNNL_VERSION_MINOR, " or a later ", DNNL_VERSION_MAJOR, ".x");
  return &loaded.functions;
}

}  // namespace berth::shim
