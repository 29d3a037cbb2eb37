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

# g++ looks for memory to use again as soon as it has a third more: a tenth of its time, for a sixth less memory.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=300;--param=ggc-min-heapsize=600000>")

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

# What computes little: the compiler takes a quarter less for -O1, and a command's time stays what it was.
set(MYNAH_PLAIN_LIBRARIES cli cli_hear doctor engine formats gpu jobs kokoro piper place reply server silero speech store text tools unknown_words verdicts whisper)
set(MYNAH_PLAIN_OPTIONS $<$<CONFIG:Release>:-O1>)
# A program that wants one function of a group can leave the rest, and the libraries that the rest needs.
set(MYNAH_SECTIONS -ffunction-sections -fdata-sections)
# Under a sanitizer the compiler takes a third of the time without any optimisation: there only the kernels have some, and
# what carries them. What fuzzes is to be quick.
set(MYNAH_OPTIMISED_LIBRARIES audio backend_cpu backend_cuda backend_ref base ops tensor)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT CMAKE_CXX_FLAGS MATCHES "fuzzer")
  set(MYNAH_UNOPTIMISED ON)
endif()
# What the sanitizer of undefined behaviour asks of every address in a vector kernel takes three fifths of its compilation. The
# address sanitizer looks at each of these accesses, and the processor refuses one that is not aligned where that matters.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address" AND MYNAH_UNOPTIMISED)
  set(MYNAH_KERNEL_OPTIONS -fno-sanitize=alignment,null,object-size,pointer-overflow,vptr)
endif()

# What is compiled alone and not in groups (groups.cmake): kernels, each source with the compiler's whole attention.
set(MYNAH_UNGROUPED_LIBRARIES backend_cpu backend_ref)
include(groups)
include(common_headers)

function(mynah_library name)
  add_library(mynah_${name} STATIC ${ARGN})
  set(headers mynah_headers)
  if(MYNAH_UNOPTIMISED AND NOT name IN_LIST MYNAH_OPTIMISED_LIBRARIES)
    target_compile_options(mynah_${name} PRIVATE -O0)
    mynah_unoptimised_headers(headers ${name})
  elseif(name IN_LIST MYNAH_PLAIN_LIBRARIES)
    target_compile_options(mynah_${name} PRIVATE ${MYNAH_PLAIN_OPTIONS})
    if(TARGET mynah_headers_plain)
      set(headers mynah_headers_plain)
    endif()
  endif()
  if(TARGET ${headers})
    target_link_libraries(mynah_${name} PRIVATE fmt::fmt)
    target_precompile_headers(mynah_${name} REUSE_FROM ${headers})
  endif()
  add_library(mynah::${name} ALIAS mynah_${name})
  target_include_directories(mynah_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mynah_${name} PRIVATE mynah_warnings mynah_baseline)
  if(NOT name IN_LIST MYNAH_UNGROUPED_LIBRARIES)
    mynah_group_later(mynah_${name})
    target_compile_options(mynah_${name} PRIVATE ${MYNAH_SECTIONS})
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
