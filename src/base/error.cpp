#include "berth/error.h"

#include <array>

namespace berth {

struct Error::State {
  Site site;
  std::string message;
  std::string notes;
};

namespace {

// The part of a path that a reader of the repository needs: room and file.
std::string_view short_path(std::string_view path) {
  std::size_t slashes = 0;
  for (std::size_t i = path.size(); i > 0; --i) {
    if (path[i - 1] == '/' && ++slashes == 2) return path.substr(i);
  }
  return path;
}

}  // namespace

const char* to_string(Code code) noexcept {
  static constexpr std::array<const char*, 11> kNames = {
      "Unknown",      "InvalidArgument", "NotFound",    "Corrupt",
      "Incompatible", "Unsupported",     "OutOfMemory", "System",
      "Delegate",     "Internal",        "Busy"};
  const auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : kNames[0];
}

Error::Error(Site site, std::string message)
    : state_(std::make_unique<State>(State{site, std::move(message), {}})) {}
Error::Error(const Error& other)
    : state_(std::make_unique<State>(*other.state_)) {}
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(Error other) noexcept {
  state_.swap(other.state_);
  return *this;
}
Error::~Error() = default;

Code Error::code() const noexcept { return state_->site.code; }

std::string_view Error::message() const noexcept { return state_->message; }

Error& Error::note(std::string_view text) {
  state_->notes.append("; while ").append(text);
  return *this;
}

std::string Error::to_string() const {
  std::ostringstream out;
  out << berth::to_string(code()) << ": " << state_->message << state_->notes
      << " [" << short_path(state_->site.file) << ":" << state_->site.line
      << "]";
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << error.to_string();
}

}  // namespace berth
