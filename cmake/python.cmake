# Finds what berth._native is built with: Python_EXECUTABLE, else this
# checkout's .venv, else the first Python on PATH, and nanobind, which that
# Python has. BERTH_PYTHON is switched off where AUTO finds none.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module
             ${SKBUILD_SABI_COMPONENT} QUIET)
if(Python_FOUND AND NOT nanobind_DIR)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(Python_FOUND)
  find_package(nanobind CONFIG QUIET HINTS ${nanobind_hint})
endif()
if(NOT nanobind_FOUND)
  if(NOT BERTH_PYTHON STREQUAL "AUTO")
    message(FATAL_ERROR "BERTH_PYTHON needs Python's headers and nanobind")
  endif()
  message(STATUS "berth._native is left out: no Python with nanobind")
  set(BERTH_PYTHON OFF)
endif()
