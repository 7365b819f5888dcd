// What the loader has to say about its latest refusal.
#pragma once

#include <dlfcn.h>

#include <string>

namespace berth::library {

// Must be called before anything else asks the loader on this thread.
inline std::string loader_text() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "the loader gave no reason";
}

}  // namespace berth::library
