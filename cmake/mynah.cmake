# mynah_library(name source...): one static library a folder, mynah_<name> with alias mynah::<name>.
# mynah_test(name source...): one GoogleTest program, registered with ctest.
# mynah_label(name label...): how ./dev test treats a test. `heavy` ones are too slow for the sanitizers, `house` ones are
# about the sources and not the program; `threaded` ones run under ThreadSanitizer too.
# What is built there is the targets sanitized_tests and threaded_tests: the programs of those tests and no other.

# The sanitizers' presets turn -Wmaybe-uninitialized off: g++ 12 then finds it in libstdc++'s own <regex>.
add_library(mynah_warnings INTERFACE)
target_compile_options(mynah_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
# g++ 12 sees overlaps that are not there in "text" + std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mynah_warnings INTERFACE -Wno-restrict)
endif()
# clang does not see that libstdc++ 12 lets its own std::stable_sort use what it calls deprecated; g++ looks for all else.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(mynah_warnings INTERFACE -Wno-deprecated-declarations)
endif()

# x86-64-v2 is the least processor mynah starts on; wider instructions are chosen at run time (backend/cpu).
add_library(mynah_baseline INTERFACE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(mynah_baseline INTERFACE -march=x86-64-v2)
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

function(mynah_library name)
  add_library(mynah_${name} STATIC ${ARGN})
  add_library(mynah::${name} ALIAS mynah_${name})
  target_include_directories(mynah_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mynah_${name} PRIVATE mynah_warnings mynah_baseline)
endfunction()

function(mynah_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE mynah_warnings mynah_baseline GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE MYNAH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # What is tested keeps every check and -O1; the tests' own files take half as long to compile without both.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=(address|thread)")
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address,undefined ")
    target_compile_options(${name} PRIVATE -fno-sanitize=null,object-size,vptr)
  endif()
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
