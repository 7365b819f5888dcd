#include "operators/schema.h"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "operators/default_value.h"

namespace berth::operators {
namespace {

constexpr std::array kKinds = {
    std::pair{std::string_view("Tensor"), Kind::kTensor},
    std::pair{std::string_view("int"), Kind::kInt},
    std::pair{std::string_view("SymInt"), Kind::kInt},
    std::pair{std::string_view("float"), Kind::kFloat},
    std::pair{std::string_view("bool"), Kind::kBool},
    std::pair{std::string_view("Scalar"), Kind::kScalar},
    std::pair{std::string_view("str"), Kind::kString},
    std::pair{std::string_view("ScalarType"), Kind::kEnum},
    std::pair{std::string_view("Layout"), Kind::kEnum},
    std::pair{std::string_view("MemoryFormat"), Kind::kEnum},
    std::pair{std::string_view("Device"), Kind::kOther},
    std::pair{std::string_view("Generator"), Kind::kOther},
};

// Of a list whose length a schema tells: torch's longest is of 6.
constexpr std::size_t kMostElements = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Schema> schema() {
    Schema found;
    found.name = text_.substr(0, text_.find_first_of("( "));
    at_ = found.name.size();
    const std::size_t colons = found.name.find("::");
    if (colons == 0 || colons == std::string::npos ||
        colons + 2 == found.name.size())
      return failed("a name with its namespace, as aten::add.Tensor");
    if (!take('(')) return failed("'('");
    while (!take(')')) {
      if (!found.parameters.empty() || named_follow_) {
        if (!take(',')) return failed("',' or ')'");
      }
      if (take('*')) {
        named_follow_ = true;
        continue;
      }
      BERTH_TRY(Parameter parameter, this->parameter());
      found.parameters.push_back(std::move(parameter));
    }
    if (!take('-') || !take('>')) return failed("'->'");
    BERTH_TRY(found.returns, returns());
    if (skip_spaces(); at_ != text_.size()) return failed("the end");
    return found;
  }

 private:
  Result<Parameter> parameter() {
    Parameter found;
    BERTH_TRY(found.type, type());
    found.name = word();
    if (found.name.empty()) return failed("a parameter's name");
    if (!take('=')) return found;
    const std::size_t from = at_;
    skip_default();
    found.default_value =
        operators::default_value(text_.substr(from, at_ - from), found.type);
    if (found.default_value) return found;
    at_ = from;
    return failed("a default of its type");
  }

  Result<std::vector<Type>> returns() {
    std::vector<Type> found;
    if (!take('(')) {
      BERTH_TRY(const Type one, type());
      found.push_back(one);
      return found;
    }
    while (!take(')')) {
      if (!found.empty() && !take(',')) return failed("',' or ')'");
      BERTH_TRY(const Type next, type());
      found.push_back(next);
      word();  // Results may have names.
    }
    return found;
  }

  // Tensor, Tensor(a!), Tensor?, int[2], Tensor?[], float[]?
  Result<Type> type() {
    const std::string_view called = word();
    Type found;
    bool is_known = false;
    for (const auto& [name, kind] : kKinds) {
      if (name != called) continue;
      found.kind = kind;
      is_known = true;
    }
    if (!is_known) return failed("a type");
    if (!skip_enclosed('(', ')')) return failed("')'");
    for (;;) {
      if (take('?')) {
        found.may_be_none = true;
      } else if (next_is('[')) {
        if (found.is_list) return failed("no list of lists");
        const std::size_t from = at_ + 1;
        if (!skip_enclosed('[', ']')) return failed("']'");
        // Nothing between them is no length, and stays 0.
        (void)std::from_chars(text_.data() + from, text_.data() + at_ - 1,
                              found.length);
        if (found.length > kMostElements) return failed("a length of a list");
        found.is_list = true;
        found.elements_may_be_none = std::exchange(found.may_be_none, false);
      } else {
        break;
      }
    }
    return found;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool next_is(char wanted) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == wanted;
  }

  bool take(char wanted) {
    if (!next_is(wanted)) return false;
    ++at_;
    return true;
  }

  std::string_view word() {
    skip_spaces();
    const std::size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            text_[at_] == '_'))
      ++at_;
    return text_.substr(from, at_ - from);
  }

  // Nothing where the next is not `open`; false where `close` is missing.
  bool skip_enclosed(char open, char close) {
    if (!next_is(open)) return true;
    const std::size_t end = text_.find(close, at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    return true;
  }

  // Up to the ',' or ')' that ends it; lists and strings may contain both.
  void skip_default() {
    int depth = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == quote) quote = 0;
        if (c == '\\') ++at_;  // Whatever follows is no end.
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if (depth > 0 && (c == ']' || c == ')')) {
        --depth;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        return;
      }
    }
    at_ = text_.size();
  }

  tl::unexpected<Error> failed(std::string_view expected) const {
    return fail(Code::kInvalidArgument, "the schema '", text_, "' has '",
                text_.substr(at_, 20), "' at character ", at_, ", expected ",
                expected);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool named_follow_ = false;
};

}  // namespace

Result<Schema> Schema::parse(std::string_view text) {
  return Parser(text).schema();
}

}  // namespace berth::operators
