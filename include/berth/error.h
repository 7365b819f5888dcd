// What went wrong, in one sentence with the numbers in it, and what the caller
// can do about it. Berth reports every failure this way and throws nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "berth/export.h"

namespace berth {

// The remedy. Values are stable: they cross the Python and ExecuTorch
// boundaries as integers, and the command line exits with 10 + value.
enum class Code : std::uint8_t {
  kInvalidArgument = 1,  // Fix the call: these arguments can never work.
  kNotFound = 2,         // Supply the missing file, key, symbol or constant.
  kCorrupt = 3,          // Re-create the file: its bytes contradict each other.
  kIncompatible = 4,     // Re-export: built for another machine, ABI or torch.
  kUnsupported = 5,      // Nothing to fix: Berth does not implement this.
  kOutOfMemory = 6,      // Free memory, then try again.
  kSystem = 7,           // The operating system refused; the text has errno.
  kDelegate = 8,         // The compiled model itself reported failure.
  kInternal = 9,         // A bug in Berth: please report it.
  kBusy = 10,            // Try again later, or load with more replicas.
};

// The code's name without its k, for example "Corrupt".
BERTH_API const char* to_string(Code code) noexcept;

// A code and the source line that raised it. Converts from Code, so that
// fail() can take any number of parts and still know its caller. (Builtins,
// because clang 14 has no std::source_location.)
struct Site {
  Code code;
  const char* file;
  int line;
  Site(Code c, const char* f = __builtin_FILE(),  // NOLINT: implicit
       int l = __builtin_LINE())
      : code(c), file(f), line(l) {}
};

// Owns     its text; one pointer wide.
// Threads  a value: move it or copy it, do not share one.
// Fails    never. Under memory exhaustion the text may be lost, not the code.
class [[nodiscard]] BERTH_API Error {
 public:
  Error(Site site, std::string message);
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(Error other) noexcept;
  ~Error();

  Code code() const noexcept;

  // The sentence alone, without code, notes and place.
  std::string_view message() const noexcept;

  // Adds what was being done, read as "while <text>". Innermost first.
  Error& note(std::string_view text);

  // "Corrupt: <message>; while <note> [elf/image.cpp:30]"
  std::string to_string() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

BERTH_API std::ostream& operator<<(std::ostream& out, const Error& error);

// Makes an error from its parts, which are joined as by operator<<:
//   return fail(Code::kCorrupt, "header needs ", 64, " bytes, found ", size);
template <typename... Parts>
tl::unexpected<Error> fail(Site site, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return tl::unexpected<Error>(Error(site, std::move(text).str()));
}

}  // namespace berth
