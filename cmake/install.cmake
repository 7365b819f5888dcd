# `cmake --install`: libraries, headers, the command, find_package(berth) with the
# targets berth::berth and, where it was built, berth::executorch, and pkg-config
# with berth.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)

install(DIRECTORY include/berth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS berth berth_interface EXPORT berth-targets)
if(BERTH_EXECUTORCH)
  set_target_properties(berth_executorch PROPERTIES
    INSTALL_RPATH "$ORIGIN;${EXECUTORCH_RUNTIME_LIBRARY_DIR}")
  install(TARGETS berth_executorch EXPORT berth-targets)
endif()
if(BERTH_CLI)
  set_target_properties(berth_command PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${EXECUTORCH_RUNTIME_LIBRARY_DIR}")
  install(TARGETS berth_command)
  include(command_words)
endif()
install(EXPORT berth-targets NAMESPACE berth:: DESTINATION ${config_dir})
configure_package_config_file(cmake/berth-config.cmake.in
  ${PROJECT_BINARY_DIR}/berth-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake
              ${PROJECT_BINARY_DIR}/berth-config-version.cmake
        DESTINATION ${config_dir})

# Relative, so that an installation can be moved.
set(BERTH_PC_TO_PREFIX ${CMAKE_INSTALL_PREFIX})
set(BERTH_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
set(BERTH_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
cmake_path(RELATIVE_PATH BERTH_PC_TO_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH BERTH_PC_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
cmake_path(RELATIVE_PATH BERTH_PC_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
