#include "shim/standard_error.h"

#include <ostream>
#include <streambuf>

#include "shim/kept_text.h"

namespace berth::shim {
namespace {

thread_local KeptText printed{};

// Keeps what is written, for the thread that writes. Has no buffer of its own:
// threads share it.
class KeptOutput final : public std::streambuf {
 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof()))
      return traits_type::not_eof(c);
    const char text = traits_type::to_char_type(c);
    printed.append({&text, 1});
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    printed.append({text, static_cast<std::size_t>(size)});
    return size;
  }
};

KeptOutput output;

}  // namespace

void clear_printed() noexcept { printed.clear(); }

std::string take_printed() {
  std::string text = printed.take();
  text.erase(text.find_last_not_of('\n') + 1);
  text.erase(0, text.find_first_not_of('\n'));
  return text;
}

}  // namespace berth::shim

// What the import std::cerr of a re-identified library binds to.
#pragma GCC visibility push(default)
extern std::ostream berth_standard_error __asm__("berth_err");
#pragma GCC visibility pop
std::ostream berth_standard_error(&berth::shim::output);
