# What comes from running the command itself: completions for shells, and man
# pages from its help. Both end up below share/ in the build folder.
if(CMAKE_CROSSCOMPILING OR BERTH_SANITIZE)
  return()  # It does not run here, or is not what is shipped.
endif()
set(words_dir ${PROJECT_BINARY_DIR}/share)
set(words)

# berth_completion(shell path): where that shell looks, below share/.
function(berth_completion shell path)
  set(file ${words_dir}/${path})
  cmake_path(GET file PARENT_PATH folder)
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND berth_command completion ${shell} > ${file}
    DEPENDS berth_command VERBATIM)
  set(words ${words} ${file} PARENT_SCOPE)
endfunction()
berth_completion(bash bash-completion/completions/berth)
berth_completion(zsh zsh/site-functions/_berth)
berth_completion(fish fish/vendor_completions.d/berth.fish)

find_program(BERTH_HELP2MAN help2man)
if(BERTH_HELP2MAN)
  foreach(command "" run inspect check completion)
    string(JOIN - page berth ${command})
    set(file ${words_dir}/man/man1/${page}.1)
    add_custom_command(OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -D HELP2MAN=${BERTH_HELP2MAN}
        -D BERTH=$<TARGET_FILE:berth_command> -D COMMAND=${command}
        -D VERSION=${PROJECT_VERSION} -D OUTPUT=${file}
        -P ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake
      DEPENDS berth_command ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake VERBATIM)
    list(APPEND words ${file})
  endforeach()
else()
  message(STATUS "help2man is not installed: no man pages")
endif()

add_custom_target(berth_command_words ALL DEPENDS ${words})
install(DIRECTORY ${words_dir}/ DESTINATION ${CMAKE_INSTALL_DATADIR})
