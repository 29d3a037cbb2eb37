# cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P commit.cmake : writes the source that says which commit FOLDER is at. Runs at every
# build and touches the file only where it changes, so that a commit compiles this one source again and no other.
set(commit "unknown")
find_program(GIT git)
# A folder inside somebody else's repository, such as an unpacked release, has no commit of its own.
if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --show-prefix RESULT_VARIABLE failed
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env GIT_OPTIONAL_LOCKS=0
                            "${GIT}" -C "${SOURCE}" describe --always --tags --dirty --abbrev=12
                    RESULT_VARIABLE failed OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    # A tag may hold any letter; what is written below is C++.
    if(failed EQUAL 0 AND described MATCHES "^[A-Za-z0-9._+/-]+$")
      set(commit "${described}")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[#include "engine/version.h"

namespace mynah::engine {

std::string_view commit() {
  return "@commit@";
}

}  // namespace mynah::engine
]])
