#include "shim/ops/dnnl.h"

#include <dlfcn.h>

#define BERTH_STRING_(x) #x
#define BERTH_STRING(x) BERTH_STRING_(x)

namespace berth::shim {
namespace {

// Its major version is its ABI's.
constexpr const char* kLibrary = "libdnnl.so." BERTH_STRING(DNNL_VERSION_MAJOR);

DnnlSgemm* load() {
  int flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  // Sanitizers end a process that binds like this, past their interceptors.
  if (::dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != nullptr)
    flags &= ~RTLD_DEEPBIND;
  void* library = ::dlopen(kLibrary, flags);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<DnnlSgemm*>(::dlsym(library, "dnnl_sgemm"));
}

}  // namespace

Result<DnnlSgemm*> find_dnnl_sgemm() {
  static DnnlSgemm* const found = load();
  if (found == nullptr)
    return fail(Code::kSystem, "large matrix products need ", kLibrary,
                ", which cannot be loaded; install libdnnl",
                DNNL_VERSION_MAJOR);
  return found;
}

}  // namespace berth::shim
