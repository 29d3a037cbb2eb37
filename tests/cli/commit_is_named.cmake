# cmake -DSCRIPT=cmake/commit.cmake -DSOURCE=FOLDER -P commit_is_named.cmake : a repository's commit is named, a
# folder in it has none, and a file that is right is left alone. Needs git for the first.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/commit_is_named")
file(MAKE_DIRECTORY "${folder}")

function(written source result)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" "-DOUTPUT=${folder}/commit.cpp" -P "${SCRIPT}"
                  COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS "${folder}/commit.cpp" line REGEX "return")
  string(REGEX MATCH "\"(.*)\"" line "${line}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

written("${folder}" inside)
if(NOT inside STREQUAL "unknown")
  message(FATAL_ERROR "wanted 'unknown' of a folder that is no repository, found '${inside}'")
endif()
file(TIMESTAMP "${folder}/commit.cpp" before "%s%f")
written("${folder}" inside)
file(TIMESTAMP "${folder}/commit.cpp" after "%s%f")
if(NOT before STREQUAL after)
  message(FATAL_ERROR "a file that was right was written again")
endif()
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD RESULT_VARIABLE failed OUTPUT_VARIABLE head
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
written("${SOURCE}" own)
if(failed EQUAL 0 AND own STREQUAL "unknown")
  message(FATAL_ERROR "wanted the commit ${head}, found '${own}'")
endif()
