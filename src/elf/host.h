// What the process that is to hold a library offers to it. The elf room only
// asks; model/ knows the answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::elf {

// Threads  one image is judged on one thread.
class Host {
 public:
  virtual ~Host() = default;

  // True when Berth itself serves this import (aoti_torch_*, Sleef_*,
  // __cxa_thread_atexit, getenv, std::cerr), under its renamed name.
  virtual bool serves(std::string_view import) const = 0;

  // True when the process, or a library that `needed` names, has the symbol.
  // `version` is empty for an unversioned import.
  virtual bool resolves(std::string_view symbol,
                        std::string_view version) const = 0;

  // True when a library of this name is loaded or can be found.
  virtual bool has_library(std::string_view needed) const = 0;

  // True when that library defines the version. Asked only when it is there.
  virtual bool has_version(std::string_view needed,
                           std::string_view version) const = 0;

  // True when this CPU, and the operating system, run code for the instruction
  // set of this name ("AVX2"); also true for names that nobody knows.
  virtual bool runs(std::string_view instruction_set) const = 0;

  // Operators that the library calls by name and nobody has registered.
  virtual std::vector<std::string> missing_operators() const { return {}; }
};

}  // namespace berth::elf
