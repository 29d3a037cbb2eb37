# mynah_library(name source...): one static library a folder, mynah_<name> with alias mynah::<name>.
# mynah_test(name source...): one GoogleTest program, registered with ctest.
# mynah_label(name label...): how ./dev test treats a test. `heavy` ones are too slow for the sanitizers, `house` ones are
# about the sources and not the program; `threaded` ones run under ThreadSanitizer too.
# What is built there is the targets sanitized_tests and threaded_tests: the programs of those tests and no other.

add_library(mynah_warnings INTERFACE)
target_compile_options(mynah_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
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

# What the sources ask: each compiler tells of its sanitizers in another way.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  add_compile_definitions(MYNAH_ADDRESS_SANITIZER)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  add_compile_definitions(MYNAH_THREAD_SANITIZER)
endif()

# The thread sanitizer knows no fences: asio does without those around its handlers, each of which one thread runs.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  target_compile_definitions(mynah_baseline INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()

# libasan of g++ 12 looks for leaks at the end of a program and takes the 16 bytes before the thread-local memory of a
# library that was opened at run time for a header of the allocator's; where they happen to look like one, it dies
# ("Tracer caught signal 11"). With initial-exec that memory is taken from the static part, which needs no such guess.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  add_compile_options(-ftls-model=initial-exec)
endif()

# Half of what a file takes to compile is the standard library's headers. The product itself is compiled without them read
# before, so that a file that forgets one is found; the sanitizers' presets, and every test, have them read once.
set(MYNAH_COMMON_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fmt/format.h>
    <fmt/ranges.h> <fstream> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <set> <span> <string> <string_view> <utility> <vector>)

# What computes little. The thread sanitizer sees as much of it without -O1, and it compiles in half the time.
set(MYNAH_PLAIN_LIBRARIES cli doctor place store text)

function(mynah_library name)
  add_library(mynah_${name} STATIC ${ARGN})
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread" AND name IN_LIST MYNAH_PLAIN_LIBRARIES)
    target_compile_options(mynah_${name} PRIVATE -O0)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_libraries(mynah_${name} PRIVATE fmt::fmt)
    target_precompile_headers(mynah_${name} PRIVATE ${MYNAH_COMMON_HEADERS})
  endif()
  add_library(mynah::${name} ALIAS mynah_${name})
  target_include_directories(mynah_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mynah_${name} PRIVATE mynah_warnings mynah_baseline)
endfunction()

# How the tests' own files are compiled: what they test keeps every check and its -O1 or -O3, they take half as long without.
add_library(mynah_test_options INTERFACE)
target_include_directories(mynah_test_options INTERFACE "${PROJECT_SOURCE_DIR}/tests")
target_compile_definitions(mynah_test_options INTERFACE MYNAH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# Designated initialisers name what a case is about, the rest has its default.
set(MYNAH_PARTIAL_INITIALIZERS -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND MYNAH_PARTIAL_INITIALIZERS -Wno-missing-designated-field-initializers)
endif()
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(test_options -O0 -fno-sanitize=null,object-size,vptr)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(test_options -O0)
else()
  set(test_options -O1)
endif()
target_compile_options(mynah_test_options INTERFACE ${MYNAH_PARTIAL_INITIALIZERS} ${test_options})

# mynah_test_program(name): compiles an executable of the tests so. tests/CMakeLists.txt has the headers.
# The warnings come first: clang has the last option that speaks of one.
function(mynah_test_program name)
  target_link_libraries(${name} PRIVATE mynah_warnings mynah_baseline mynah_test_options fmt::fmt)
  target_precompile_headers(${name} REUSE_FROM mynah_test_headers)
endfunction()

function(mynah_test name)
  add_executable(${name} ${ARGN})
  mynah_test_program(${name})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  # Each program says how its single tests went, for tools/count_tests.py.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_OUTPUT=json:${PROJECT_BINARY_DIR}/results/${name}.json")
  set_property(GLOBAL APPEND PROPERTY MYNAH_SANITIZED_TESTS ${name})
endfunction()

function(mynah_label name)
  set_property(TEST ${name} APPEND PROPERTY LABELS ${ARGN})
  if("threaded" IN_LIST ARGN)
    set_property(GLOBAL APPEND PROPERTY MYNAH_THREADED_TESTS ${name})
  endif()
  if("heavy" IN_LIST ARGN)
    set_property(GLOBAL APPEND PROPERTY MYNAH_HEAVY_TESTS ${name})
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

# mynah_test_targets(): what ./dev test builds under the sanitizers, once every test is known.
function(mynah_test_targets)
  get_property(threaded GLOBAL PROPERTY MYNAH_THREADED_TESTS)
  get_property(sanitized GLOBAL PROPERTY MYNAH_SANITIZED_TESTS)
  get_property(heavy GLOBAL PROPERTY MYNAH_HEAVY_TESTS)
  list(REMOVE_ITEM sanitized ${heavy})
  add_custom_target(threaded_tests DEPENDS ${threaded})
  # The last two are run by tests of the command line.
  add_custom_target(sanitized_tests DEPENDS ${sanitized} mynah mynah-media)
endfunction()
