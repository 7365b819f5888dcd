# Writes shim/sleef.inc into the build folder: one BERTH_SLEEF(name) for every
# vector function that libsleef exports, or none where there is no libsleef or
# no stub for this processor.
find_library(BERTH_SLEEF_LIBRARY NAMES libsleef.so.3 sleef)
set(sleef_rows "")
if(BERTH_SLEEF_LIBRARY AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${BERTH_SLEEF_LIBRARY}
                  OUTPUT_VARIABLE sleef_symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "Sleef_[^\n]+" sleef_symbols "${sleef_symbols}")
  list(FILTER sleef_symbols INCLUDE REGEX
       "^Sleef_[a-z0-9]+(f4|d2|f8|d4|f16|d8)(_u[0-9]+)?$")
  list(SORT sleef_symbols)
  foreach(symbol IN LISTS sleef_symbols)
    string(REGEX REPLACE "^Sleef_(.*)" "BERTH_SLEEF(\\1)\n" row "${symbol}")
    string(APPEND sleef_rows "${row}")
  endforeach()
else()
  message(STATUS "No libsleef: models that need its vector math are refused")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/shim/sleef.inc
     CONTENT "${sleef_rows}")
