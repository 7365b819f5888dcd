# berth_flags: what every target of the project is compiled with.
add_library(berth_flags INTERFACE)
target_compile_options(
  berth_flags
  INTERFACE
    -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
    # Errors name the source file; not where this checkout lies.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/src/=
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(BERTH_DEVELOPER)
  target_compile_options(berth_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
endif()
if(BERTH_SANITIZE)
  target_compile_options(berth_flags INTERFACE
    -fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(berth_flags INTERFACE -fsanitize=${BERTH_SANITIZE})
endif()
if(BERTH_FUZZ)
  # The project's own code has to be counted for the fuzzer to find its way.
  target_compile_options(berth_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
option(BERTH_COVERAGE "Count executed lines (gcov)" OFF)
if(BERTH_COVERAGE)
  target_compile_options(berth_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(berth_flags INTERFACE --coverage)
endif()
