# mynah_kernels(library file.cu...): compiled for cards, as PTX text inside the library
# (programs/), and for this machine, as the simulation runs them (simt/).
find_package(ZLIB REQUIRED)
find_program(MYNAH_DEVICE_CLANG clang++-19 REQUIRED)

include(kernel_levels)

# Each file once at each of its levels, and a table a level: the header kernel_names.h says which level's kernels it has.
function(mynah_simulated_kernels library)
  list(JOIN MYNAH_SIMT_LEVELS "," levels)
  target_compile_definitions(${library} PRIVATE "MYNAH_SIMT_LEVELS=${levels}")
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  foreach(level IN LISTS MYNAH_SIMT_LEVELS)
    set(objects ${library}_sm${level})
    add_library(${objects} OBJECT simt/kernel_table.cpp)
    target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${objects} PRIVATE mynah_warnings mynah_baseline)
    # They are also a part of the library that tests load as a driver (tests/cuda). The simulation asks at every step which
    # thread runs: without a call (initial-exec).
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${objects} PRIVATE -ftls-model=initial-exec)
    target_precompile_headers(${objects} PRIVATE "${PROJECT_SOURCE_DIR}/src/backend/cuda/simt/simt.h")
    set(names "${CMAKE_CURRENT_BINARY_DIR}/sm${level}/kernel_names.h")
    target_compile_definitions(${objects} PRIVATE MYNAH_LEVEL=${level} "MYNAH_KERNEL_NAMES=\"${names}\"")
    set(header "// Made by cmake/kernels.cmake.\n#pragma once\n\n")
    foreach(source IN LISTS ARGN)
      get_filename_component(group "${source}" NAME_WE)
      mynah_level_of(of_group "${group}" ${level} ${MYNAH_SIMT_LEVELS})
      if(of_group EQUAL 0)
        string(APPEND header "#define MYNAH_DECLARE_${group}(kernel_name)\n#define MYNAH_KERNEL_OF_${group}(kernel_name) nullptr\n")
      else()
        string(APPEND header "#define MYNAH_DECLARE_${group}(kernel_name) extern const HostKernel kernel_name##_sm${of_group};\n"
                             "#define MYNAH_KERNEL_OF_${group}(kernel_name) &kernel_name##_sm${of_group}\n")
      endif()
      if(of_group EQUAL level)
        target_sources(${objects} PRIVATE ${source})
      endif()
    endforeach()
    file(CONFIGURE OUTPUT "${names}" CONTENT "${header}" @ONLY)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

# PTX text: no header and no library of a CUDA toolkit. What is fused is said in the source (multiply_add), so that one sum
# has the same bits wherever it is written; what is not inlined would keep its arrays in memory. The ISA is the oldest that
# has a level's instructions, so that old drivers take it (programs/programs.cpp names it too).
function(mynah_ptx_program program source architecture level isa)
  add_custom_command(
    OUTPUT "${program}"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${MYNAH_DEVICE_CLANG}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_${architecture} -nocudainc -nocudalib
            --cuda-feature=+ptx${isa} --cuda-path=/nonexistent -std=c++20 -O3 -ffp-contract=off -mllvm -inline-threshold=100000
            -Wall -Wextra -Werror
            -DMYNAH_LEVEL=${level} "-I${PROJECT_SOURCE_DIR}/src" -MD -MF "${program}.d" -MT "${program}"
            -S "${source}" -o "${program}"
    DEPENDS "${source}"
    DEPFILE "${program}.d"
    COMMENT "Compiling ${program}"
    VERBATIM)
endfunction()

function(mynah_kernels library)
  mynah_simulated_kernels(${library} ${ARGN})
  set(programs)
  list(TRANSFORM MYNAH_KERNEL_LEVELS REPLACE "a?:.*" "" OUTPUT_VARIABLE levels)
  foreach(level_isa IN LISTS MYNAH_KERNEL_LEVELS)
    string(REPLACE ":" ";" level_isa "${level_isa}")
    list(GET level_isa 0 architecture)
    list(GET level_isa 1 isa)
    string(REPLACE "a" "" level "${architecture}")
    foreach(source IN LISTS ARGN)
      get_filename_component(group "${source}" NAME_WE)
      mynah_level_of(of_group "${group}" ${level} ${levels})
      if(of_group EQUAL level)
        set(program "${CMAKE_CURRENT_BINARY_DIR}/${group}.sm${level}.ptx")
        mynah_ptx_program("${program}" "${source}" ${architecture} ${level} ${isa})
        list(APPEND programs "${program}")
      endif()
    endforeach()
  endforeach()
  add_executable(mynah_pack_programs programs/pack_programs.cpp)
  target_include_directories(mynah_pack_programs PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mynah_pack_programs PRIVATE mynah_warnings mynah_baseline ZLIB::ZLIB)
  set(blob "${CMAKE_CURRENT_BINARY_DIR}/programs.blob")
  add_custom_command(
    OUTPUT "${blob}"
    COMMAND mynah_pack_programs "${blob}" ${programs}
    DEPENDS mynah_pack_programs ${programs}
    COMMENT "Packing the kernels' PTX"
    VERBATIM)
  set_source_files_properties(programs/programs.cpp PROPERTIES COMPILE_DEFINITIONS "MYNAH_PROGRAMS_BLOB=\"${blob}\""
                              OBJECT_DEPENDS "${blob}")
  target_link_libraries(${library} PRIVATE ZLIB::ZLIB)
endfunction()
