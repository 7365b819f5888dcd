# A man page from a command's help, by help2man; run as a script with HELP2MAN,
# BERTH (the program), COMMAND (empty: berth itself), VERSION and OUTPUT.
execute_process(COMMAND ${BERTH} ${COMMAND} --help
  OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
# The paragraph after the usage is the page's name; it ends in a period.
string(REGEX REPLACE "^[^\n]*\n\n(.*)" "\\1" name "${help}")
string(FIND "${name}" ".\n" end)
string(SUBSTRING "${name}" 0 ${end} name)
string(REPLACE "\n" " " name "${name}")

cmake_path(GET OUTPUT PARENT_PATH folder)
file(MAKE_DIRECTORY ${folder})
if(COMMAND)
  set(others "berth(1)")
else()
  set(others "berth-run(1), berth-inspect(1), berth-check(1), berth-completion(1)")
endif()
file(WRITE ${OUTPUT}.extra "[see also]\n${others}\n")
execute_process(
  COMMAND ${HELP2MAN} --no-info --section=1 --manual=Berth "--name=${name}"
    "--source=Berth ${VERSION}" --version-string=${VERSION}
    "--include=${OUTPUT}.extra" "${BERTH} ${COMMAND}"
  OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.extra)
if(COMMAND)
  # help2man takes the command's name for an argument.
  string(TOUPPER ${COMMAND} title)
  string(REPLACE "\n.TH BERTH " "\n.TH BERTH-${title} " page "${page}")
  string(REPLACE "\nberth ${COMMAND} " "\nberth-${COMMAND} " page "${page}")
  string(REPLACE "\n.B berth\n\\fI\\,${COMMAND} \\/\\fR" "\n.B berth ${COMMAND}\n"
    page "${page}")
endif()
file(WRITE ${OUTPUT} "${page}")
