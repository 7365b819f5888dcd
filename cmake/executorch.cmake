# Finds ExecuTorch's C++ SDK, which its Python wheel carries: BERTH_EXECUTORCH_ROOT,
# else this checkout's .venv, else CMAKE_PREFIX_PATH.
set(BERTH_EXECUTORCH_ROOT "" CACHE PATH
    "The executorch package of a Python environment (holds share/cmake)")
if(NOT BERTH_EXECUTORCH_ROOT)
  file(GLOB found ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/executorch)
  if(found)
    list(GET found 0 BERTH_EXECUTORCH_ROOT)
  endif()
endif()
find_package(executorch REQUIRED CONFIG
             HINTS ${BERTH_EXECUTORCH_ROOT}/share/cmake)
cmake_path(GET executorch_DIR PARENT_PATH BERTH_EXECUTORCH_SHARE)
find_path(BERTH_EXECUTORCH_SCHEMA program.fbs REQUIRED
          HINTS ${BERTH_EXECUTORCH_SHARE}/../schema
                ${BERTH_EXECUTORCH_SHARE}/../../../schema
          NO_DEFAULT_PATH)
