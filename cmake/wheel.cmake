# What a Python wheel holds beside the package's own files, which
# pyproject.toml names: berth._native, Berth's libraries and those that they
# need and a machine may lack, all in berth/lib.
set(wheel_dir berth/lib)

# A wheel holds no links, so that each library has just the name it is opened by.
set(wheel_targets berth)
if(BERTH_EXECUTORCH)
  # ExecuTorch's own library is in the process before.
  list(APPEND wheel_targets berth_executorch)
endif()
set_target_properties(${wheel_targets} PROPERTIES VERSION 0)
install(TARGETS ${wheel_targets} _native
        LIBRARY DESTINATION ${wheel_dir} COMPONENT wheel NAMELINK_SKIP)

# oneDNN and SLEEF, which src/shim opens by name, and what those and Berth's own
# libraries need: each library is to look for others beside itself first.
file(STRINGS ${BERTH_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h dnnl_major
     REGEX "define DNNL_VERSION_MAJOR ")
string(REGEX REPLACE ".* " "" dnnl_major "${dnnl_major}")
find_library(BERTH_DNNL_LIBRARY libdnnl.so.${dnnl_major} REQUIRED)
find_library(BERTH_SLEEF_LIBRARY libsleef.so.3 REQUIRED)
find_program(BERTH_PATCHELF patchelf REQUIRED)
install(CODE "
  set(opened ${BERTH_DNNL_LIBRARY} ${BERTH_SLEEF_LIBRARY})
  set(berth $<TARGET_FILE:berth>)
  set(patchelf ${BERTH_PATCHELF})
  set(dir \${CMAKE_INSTALL_PREFIX}/${wheel_dir})
  set(licences \${dir}/licences)
  file(MAKE_DIRECTORY \${licences})" COMPONENT wheel)
install(CODE [[
  file(GET_RUNTIME_DEPENDENCIES
    LIBRARIES ${berth} ${opened}
    RESOLVED_DEPENDENCIES_VAR needed
    # Every Linux with glibc and a C++ runtime has these.
    PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so" "^ld-linux")
  foreach(library IN LISTS opened needed)
    # The name that it is needed by is the link's.
    cmake_path(GET library FILENAME name)
    file(REAL_PATH ${library} file)
    message(STATUS "Bundling: ${file} as ${name}")
    file(COPY_FILE ${file} ${dir}/${name})
    # Whoever passes a library on passes its licence on.
    cmake_path(GET file FILENAME name)
    execute_process(COMMAND dpkg-query --search */${name}
                    OUTPUT_VARIABLE package ERROR_VARIABLE error RESULT_VARIABLE status)
    string(REGEX REPLACE ":.*" "" package "${package}")
    set(licence /usr/share/doc/${package}/copyright)
    if(status EQUAL 0 AND EXISTS ${licence})
      file(COPY_FILE ${licence} ${licences}/${package}.txt)
    else()
      message(WARNING "The licence of ${file} is not found; the wheel lacks it")
    endif()
  endforeach()
  file(GLOB libraries ${dir}/*.so*)
  foreach(library IN LISTS libraries)
    execute_process(COMMAND ${patchelf} --set-rpath $ORIGIN ${library}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()]] COMPONENT wheel)
