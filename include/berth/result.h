// A value or the reason why there is none.
#pragma once

#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "berth/error.h"

namespace berth {

// tl::expected has the members of C++23's std::expected. Test it, then
// dereference it; value() is not used because it may throw.
template <typename T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline Status ok() { return {}; }

// Adds "while <text>" when `result` is an error; returns it either way.
template <typename T>
Result<T> noted(Result<T> result, std::string_view text) {
  if (!result) result.error().note(text);
  return result;
}

}  // namespace berth

#define BERTH_CONCAT_INNER_(a, b) a##b
#define BERTH_CONCAT_(a, b) BERTH_CONCAT_INNER_(a, b)
#define BERTH_TRY_INNER_(result, declaration, expression)               \
  auto result = (expression);                                           \
  if (!result)                                                          \
    return ::tl::unexpected<::berth::Error>(std::move(result).error()); \
  declaration = std::move(*result)

// BERTH_TRY(auto image, Image::parse(bytes));
// Declares `image` from the value, or returns the error to our own caller.
#define BERTH_TRY(declaration, expression)                              \
  BERTH_TRY_INNER_(BERTH_CONCAT_(berth_result_, __LINE__), declaration, \
                   expression)

// BERTH_CHECK(write_all(fd, bytes));
// Returns the error of a Status to our own caller.
#define BERTH_CHECK(expression)                \
  do {                                         \
    auto berth_status = (expression);          \
    if (!berth_status)                         \
      return ::tl::unexpected<::berth::Error>( \
          std::move(berth_status).error());    \
  } while (false)
