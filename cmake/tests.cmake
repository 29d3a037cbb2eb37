# mynah_test(name source...): one GoogleTest program, registered with ctest.
# mynah_label(name label...): how ./dev test treats a test. `heavy` ones are too slow for the sanitizers, `house` ones are
# about the sources and not the program; `threaded` ones run under ThreadSanitizer too; `rare` ones with `./dev test --all` alone.
# What is built there is the targets sanitized_tests and threaded_tests: the programs of those tests and no other.

# How the tests' own files are compiled: what they test keeps every check and its -O1 or -O3, they take a third less without.
add_library(mynah_test_options INTERFACE)
target_include_directories(mynah_test_options INTERFACE "${PROJECT_SOURCE_DIR}/tests")
target_compile_definitions(mynah_test_options INTERFACE MYNAH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# Designated initialisers name what a case is about, the rest has its default.
set(MYNAH_PARTIAL_INITIALIZERS -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND MYNAH_PARTIAL_INITIALIZERS -Wno-missing-designated-field-initializers)
endif()
set(test_options -O0)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  list(APPEND test_options -fno-sanitize=null,object-size,vptr)
endif()
target_compile_options(mynah_test_options INTERFACE ${MYNAH_PARTIAL_INITIALIZERS} ${test_options})

# Hundreds of programs are linked here, by lld in a third of the time that ld takes.
find_program(MYNAH_LLD ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH REQUIRED)
cmake_path(GET MYNAH_LLD PARENT_PATH lld_folder)
set(MYNAH_LLD_OPTIONS -fuse-ld=lld "-B${lld_folder}")

# What the programs of the tests and the headers that are read for them share: g++ takes those only where the options are the
# same. The warnings come first: clang obeys the last option that speaks of one.
set(MYNAH_TEST_LIBRARIES mynah_warnings mynah_baseline mynah_test_options fmt::fmt GTest::gtest)

# mynah_test_program(name): compiles an executable of the tests so. tests/CMakeLists.txt has the headers.
function(mynah_test_program name)
  target_link_libraries(${name} PRIVATE ${MYNAH_TEST_LIBRARIES})
  target_link_options(${name} PRIVATE ${MYNAH_LLD_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM mynah_test_headers)
endfunction()

# mynah_test_run(name program): a run of a GoogleTest program as one of ctest's.
function(mynah_test_run name program)
  add_test(NAME ${name} COMMAND ${program})
  # Each says how its single tests went, for tools/count_tests.py.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_OUTPUT=json:${PROJECT_BINARY_DIR}/results/${name}.json")
endfunction()

# mynah_test_part(name program filter): those of its tests that fit are a run of their own, with labels of its own.
function(mynah_test_part name program filter)
  mynah_test_run(${name} ${program})
  set_property(GLOBAL PROPERTY MYNAH_PROGRAM_OF_${name} ${program})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=${filter}")
  set_property(TEST ${program} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${filter}")
endfunction()

function(mynah_test name)
  add_executable(${name} ${ARGN})
  mynah_test_program(${name})
  mynah_group_later(${name})
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  mynah_test_run(${name} ${name})
  set_property(GLOBAL APPEND PROPERTY MYNAH_SANITIZED_TESTS ${name})
endfunction()

function(mynah_label name)
  set_property(TEST ${name} APPEND PROPERTY LABELS ${ARGN})
  if("threaded" IN_LIST ARGN)
    get_property(program GLOBAL PROPERTY MYNAH_PROGRAM_OF_${name})
    if(NOT program)
      set(program ${name})
    endif()
    set_property(GLOBAL APPEND PROPERTY MYNAH_THREADED_TESTS ${program})
  endif()
  if("heavy" IN_LIST ARGN)
    set_property(GLOBAL APPEND PROPERTY MYNAH_HEAVY_TESTS ${name})
  endif()
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
