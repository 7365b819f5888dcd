// A few checks for tests in C. Each prints what is wrong; main() returns
// berth_failures, which is 0 when all is well.
#pragma once

#include <berth/berth.h>
#include <stdio.h>
#include <string.h>

static int berth_failures = 0;

static inline int berth_expect(int good, const char* file, int line,
                               const char* what, const char* found) {
  if (!good) {
    printf("%s:%d: expected %s, found %s\n", file, line, what, found);
    berth_failures = 1;
  }
  return good;
}

// Each is 1 when it held.
#define BERTH_EXPECT(condition) \
  berth_expect((condition) ? 1 : 0, __FILE__, __LINE__, #condition, "otherwise")
#define BERTH_EXPECT_OK(call)                                 \
  berth_expect((call) == BERTH_OK, __FILE__, __LINE__, #call, \
               berth_last_error())
#define BERTH_EXPECT_TEXT(found, text)                                   \
  berth_expect(strcmp((found), (text)) == 0, __FILE__, __LINE__, (text), \
               (found))
// The call fails with this code, and its sentence has these words.
#define BERTH_EXPECT_FAILURE(call, code, words)                               \
  (berth_expect((call) == (code), __FILE__, __LINE__, #code, "another code"), \
   berth_expect(strstr(berth_last_error(), (words)) != NULL, __FILE__,        \
                __LINE__, (words), berth_last_error()))
