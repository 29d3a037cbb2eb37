# mynah_library(name source...): one static library a folder, mynah_<name> with alias mynah::<name>. Tests: tests.cmake.

add_library(mynah_warnings INTERFACE)
target_compile_options(mynah_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
# In a group (groups.cmake) a local name may be one that a neighbour has for its whole file: clang refuses more of these than
# g++, and none is a mistake.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(mynah_warnings INTERFACE -Wshadow)
endif()
# g++ 12 sees overlaps that are not there in "text" + std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mynah_warnings INTERFACE -Wno-restrict)
endif()
# clang does not see that libstdc++ 12 lets its own std::stable_sort use what it calls deprecated; g++ looks for all else.
# Some targets turn off what g++ alone warns of.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(mynah_warnings INTERFACE -Wno-deprecated-declarations -Wno-unknown-warning-option)
endif()

# x86-64-v2 is the least processor mynah starts on; wider instructions are chosen at run time (backend/cpu).
add_library(mynah_baseline INTERFACE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(mynah_baseline INTERFACE -march=x86-64-v2)
endif()

# The sources ask which sanitizer there is: each compiler tells of its own in another way.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  add_compile_definitions(MYNAH_ADDRESS_SANITIZER)
  # libasan of g++ 12 looks for leaks at the end of a program and takes the 16 bytes before the thread-local memory of a
  # library that was opened at run time for a header of the allocator's; where they happen to look like one, it dies
  # ("Tracer caught signal 11"). With initial-exec that memory is taken from the static part, which needs no such guess.
  add_compile_options(-ftls-model=initial-exec)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  add_compile_definitions(MYNAH_THREAD_SANITIZER)
  # It knows no fences: asio does without those around its handlers, each of which one thread runs.
  target_compile_definitions(mynah_baseline INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()

# Half of what a file takes to compile is the standard library's headers. The product itself is compiled without them read
# before, so that a file that forgets one is found; the sanitizers' presets, and every test, have them read once.
set(MYNAH_COMMON_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fmt/format.h>
    <fmt/ranges.h> <fstream> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <set> <span> <string> <string_view> <utility> <vector>)
# A header that was read before is as it was, though ccache or a package gives it another time: ninja knows what changed.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# What computes little: the compiler takes a quarter less for -O1, and a command's time stays what it was. The thread
# sanitizer sees as much of it without any, and it compiles in half the time; so does the address sanitizer of those
# whose tests are no slower for it. What fuzzes is to be quick.
set(MYNAH_PLAIN_LIBRARIES cli doctor engine formats gpu place store text)
set(MYNAH_UNOPTIMISED_LIBRARIES "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(MYNAH_UNOPTIMISED_LIBRARIES ${MYNAH_PLAIN_LIBRARIES})
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address" AND NOT CMAKE_CXX_FLAGS MATCHES "fuzzer")
  set(MYNAH_UNOPTIMISED_LIBRARIES cli engine gpu place store)
endif()

# What is compiled in groups (groups.cmake): what computes stays apart, each source with the compiler's whole attention.
set(MYNAH_GROUPED_LIBRARIES audio cli doctor engine formats gpu media place speech store text)
include(groups)

function(mynah_library name)
  add_library(mynah_${name} STATIC ${ARGN})
  if(name IN_LIST MYNAH_UNOPTIMISED_LIBRARIES)
    target_compile_options(mynah_${name} PRIVATE -O0)
  elseif(name IN_LIST MYNAH_PLAIN_LIBRARIES)
    target_compile_options(mynah_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_libraries(mynah_${name} PRIVATE fmt::fmt)
    target_precompile_headers(mynah_${name} PRIVATE ${MYNAH_COMMON_HEADERS})
  endif()
  add_library(mynah::${name} ALIAS mynah_${name})
  target_include_directories(mynah_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mynah_${name} PRIVATE mynah_warnings mynah_baseline)
  if(name IN_LIST MYNAH_GROUPED_LIBRARIES)
    mynah_group_later(mynah_${name})
    # A program that wants one function of a group can leave the rest, and the libraries that the rest needs.
    target_compile_options(mynah_${name} PRIVATE -ffunction-sections -fdata-sections)
  endif()
endfunction()

# mynah_commit_source(target): gives it the source that says which commit is built, looked up at every build (commit.cmake).
function(mynah_commit_source target)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/commit.cpp")
  add_custom_target(${target}_commit
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${source}"
            -P "${PROJECT_SOURCE_DIR}/cmake/commit.cmake"
    BYPRODUCTS "${source}"
    COMMENT "Asking git for the commit")
  target_sources(${target} PRIVATE "${source}")
  add_dependencies(${target} ${target}_commit)
endfunction()
