#include "model/complaint.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace berth::model {
namespace {

// Moves `text` behind `mark`; false when it is not there.
bool skip_past(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + mark.size());
  return true;
}

// Takes the number that `text` begins with.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

struct Phrase {
  std::string_view words;
  Complaint::About about;
  std::string_view before_number;
};

constexpr std::array kPhrases = {
    Phrase{"unmatched dtype", Complaint::About::kDType, "expected: "},
    Phrase{"unmatched dim value at ", Complaint::About::kSize, "expected: "},
    Phrase{"dim value is too small at ", Complaint::About::kSizeTooSmall,
           ">= "},
    Phrase{"dim value is too large at ", Complaint::About::kSizeTooLarge,
           "<= "},
    Phrase{"unmatched stride value at ", Complaint::About::kStride,
           "expected: "},
};

}  // namespace

std::optional<Complaint> Complaint::find(std::string_view text) {
  Complaint complaint;
  if (!skip_past(text, "input_handles[") ||
      !take_number(text, complaint.input) || !text.starts_with("]: "))
    return std::nullopt;
  text.remove_prefix(3);
  const auto phrase =
      std::find_if(kPhrases.begin(), kPhrases.end(),
                   [&](const Phrase& p) { return text.starts_with(p.words); });
  if (phrase == kPhrases.end()) return std::nullopt;
  text.remove_prefix(phrase->words.size());
  complaint.about = phrase->about;
  if (phrase->about != About::kDType && !take_number(text, complaint.dimension))
    return std::nullopt;
  if (!skip_past(text, phrase->before_number) ||
      !take_number(text, complaint.expected))
    return std::nullopt;
  return complaint;
}

}  // namespace berth::model
