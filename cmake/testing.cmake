# One word a test:
#   berth_test(image)   src/<room>/image_test.cpp, linked to Berth and gtest
#   berth_fuzz(image)   src/<room>/image_fuzz.cpp; ctest replays its corpus in
#                       every build, the fuzz preset explores
#   berth_seeds(elf)    seeds/elf in the build folder, by tools/make_elf_seeds.py,
#                       for berth_fuzz(... SEEDS elf) and for tests
#   berth_fake(name)    tests/fakes/name.c, a small shared library that stands
#                       in for a delegate and is wrong in one way
# Tests see internal headers and hidden symbols: they link the static form.
if(BERTH_DEVELOPER)
  enable_testing()
  find_package(GTest REQUIRED)
  find_program(BERTH_PYTHON3 python3 REQUIRED)  # Without packages of its own.
  # Compiled once: the headers of gmock are half of a test's compile time.
  add_library(berth_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
  target_include_directories(berth_test_main PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(berth_test_main PRIVATE berth_flags GTest::gmock)
endif()

function(berth_test name)
  if(NOT BERTH_DEVELOPER)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LIBRARIES;FAKES" ${ARGN})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME room)
  set(target ${name}_test)
  add_executable(${target} ${name}_test.cpp)
  target_link_libraries(${target} PRIVATE berth_flags berth_core
                        berth_test_main ${arg_LIBRARIES} GTest::gmock)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE
    BERTH_FAKES_DIR="${PROJECT_BINARY_DIR}/fakes"
    BERTH_SEEDS_DIR="${PROJECT_BINARY_DIR}/seeds"
    BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(arg_FAKES)
    add_dependencies(${target} ${arg_FAKES})
  endif()
  add_test(NAME ${room}.${name} COMMAND ${target})
  set_tests_properties(${room}.${name} PROPERTIES TIMEOUT 300 LABELS ${room})
endfunction()

function(berth_seeds name)
  if(NOT BERTH_DEVELOPER)
    return()
  endif()
  set(script ${PROJECT_SOURCE_DIR}/tools/make_${name}_seeds.py)
  set(folder ${PROJECT_BINARY_DIR}/seeds/${name})
  add_custom_command(OUTPUT ${folder}/sound.bin
                     COMMAND ${BERTH_PYTHON3} ${script} ${folder}
                     DEPENDS ${script} VERBATIM)
  add_custom_target(${name}_seeds DEPENDS ${folder}/sound.bin)
endfunction()

function(berth_fuzz name)
  if(NOT BERTH_DEVELOPER)
    return()
  endif()
  cmake_parse_arguments(arg "" "SEEDS" "LIBRARIES" ${ARGN})
  set(target ${name}_fuzz)
  add_executable(${target} ${name}_fuzz.cpp)
  target_link_libraries(${target} PRIVATE berth_flags berth_core
                        ${arg_LIBRARIES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/corpus/${name})
  if(arg_SEEDS)
    set(corpus ${PROJECT_BINARY_DIR}/seeds/${arg_SEEDS})
    add_dependencies(${target} ${arg_SEEDS}_seeds)
  endif()
  if(BERTH_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND ${target} -runs=20000 ${corpus})
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/replay.cpp)
    add_test(NAME fuzz.${name} COMMAND ${target} ${corpus})
  endif()
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 600 LABELS fuzz)
endfunction()

function(berth_fake name)
  if(NOT BERTH_DEVELOPER)
    return()
  endif()
  cmake_parse_arguments(arg "" "SOURCE" "DEFINITIONS;LINK_OPTIONS;COMPILE_OPTIONS" ${ARGN})
  if(NOT arg_SOURCE)
    set(arg_SOURCE ${name}.c)
  endif()
  add_library(${name} MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/${arg_SOURCE})
  set_target_properties(${name} PROPERTIES PREFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fakes)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${arg_COMPILE_OPTIONS})
  target_link_options(${name} PRIVATE ${arg_LINK_OPTIONS})
endfunction()
