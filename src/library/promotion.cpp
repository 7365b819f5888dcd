#include "library/promotion.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "library/loader_text.h"
#include "library/os.h"

namespace berth::library {

Status promote_self() {
  static std::atomic<bool> promoted = false;
  if (promoted.load(std::memory_order_acquire)) return ok();
  Dl_info about{};
  link_map* self = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&promote_self), &about,
                reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) == 0 ||
      self == nullptr)
    return fail(Code::kSystem,
                "the loader does not know the object that holds Berth");
  // The executable is the one object without a name; it is global already.
  const bool in_executable = self->l_name == nullptr || *self->l_name == '\0';
  // The handle is kept open: a second promotion could not undo the first.
  if (!in_executable && os().dlopen(self->l_name, RTLD_NOLOAD | RTLD_GLOBAL |
                                                      RTLD_NOW) == nullptr)
    return fail(Code::kSystem, "cannot make the names of '", self->l_name,
                "' visible: ", loader_text());
  promoted.store(true, std::memory_order_release);
  return ok();
}

}  // namespace berth::library
