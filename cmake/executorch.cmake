# Finds ExecuTorch's C++ SDK, which its Python wheel carries: BERTH_EXECUTORCH_ROOT,
# else this checkout's .venv, else CMAKE_PREFIX_PATH. BERTH_EXECUTORCH is switched
# off where AUTO finds none.
set(BERTH_EXECUTORCH_ROOT "" CACHE PATH
    "The executorch package of a Python environment (holds share/cmake)")
if(NOT BERTH_EXECUTORCH_ROOT)
  file(GLOB found ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/executorch)
  if(found)
    list(GET found 0 BERTH_EXECUTORCH_ROOT)
  endif()
endif()
# The wheel has a second package file, which a prefix path may lead to first.
if(BERTH_EXECUTORCH_ROOT)
  find_package(executorch QUIET CONFIG
               PATHS ${BERTH_EXECUTORCH_ROOT}/share/cmake NO_DEFAULT_PATH)
endif()
if(NOT executorch_FOUND AND BERTH_EXECUTORCH STREQUAL "AUTO")
  find_package(executorch QUIET CONFIG)
  if(NOT executorch_FOUND)
    message(STATUS "The ExecuTorch backend is left out: no SDK found")
    set(BERTH_EXECUTORCH OFF)
    return()
  endif()
elseif(NOT executorch_FOUND)
  find_package(executorch REQUIRED CONFIG)
endif()
cmake_path(GET executorch_DIR PARENT_PATH BERTH_EXECUTORCH_SHARE)
find_path(BERTH_EXECUTORCH_SCHEMA program.fbs REQUIRED
          HINTS ${BERTH_EXECUTORCH_SHARE}/../schema
                ${BERTH_EXECUTORCH_SHARE}/../../schema
                ${BERTH_EXECUTORCH_SHARE}/../../../schema
          NO_DEFAULT_PATH)
