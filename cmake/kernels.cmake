# mynah_kernels(library file.cu...): compiled for cards, as PTX text inside the library
# (programs/), and for this machine, as the simulation runs them (simt/).
find_package(ZLIB REQUIRED)
find_program(MYNAH_DEVICE_CLANG clang++-19 REQUIRED)

# Compute capability, times ten, and PTX ISA of each level; programs/programs.cpp has them too.
set(MYNAH_KERNEL_LEVELS 60:60 61:60 75:65 80:70)
# The groups (kernels/GROUP.cu) that use a level's own instructions. Every other group is compiled at the first level only, and
# a group that is in several lists runs at the highest that a card has. Groups of matrix units have no lower level.
set(MYNAH_GROUPS_OF_60 ".*")
set(MYNAH_GROUPS_OF_61 "^products_(i8|q[0-9]_[0-9k])$")
set(MYNAH_GROUPS_OF_75 "^products_q[0-9]_[0-9k]$|^units_.*_f16$|^units_int8.*$")
set(MYNAH_GROUPS_OF_80 "^products_q[0-9]_[0-9k]$|^units_.*$|^attention_split_.*$")
set(MYNAH_UNIT_GROUPS "^units_.*$")
# The sanitizers' presets simulate one level: the others are the same source with other branches, and take as long again.
set(MYNAH_SIMT_LEVELS "60;61;75;80" CACHE STRING "Levels of compute capability that the simulation runs kernels at")

# mynah_level_of(result group level all...): the highest of the levels `all` that `group` is compiled at and that is not above
# `level`; 0 where there is none. Of levels `all`, the first takes what the levels below it have.
function(mynah_level_of result group level)
  list(GET ARGN 0 first)
  set(best 0)
  foreach(one IN LISTS ARGN)
    if(one GREATER level)
      break()
    endif()
    if("${group}" MATCHES "${MYNAH_UNIT_GROUPS}")
      if("${group}" MATCHES "${MYNAH_GROUPS_OF_${one}}" AND NOT one LESS 75)
        set(best ${one})
      endif()
    elseif(one EQUAL first OR "${group}" MATCHES "${MYNAH_GROUPS_OF_${one}}")
      set(best ${one})
    endif()
  endforeach()
  set(${result} ${best} PARENT_SCOPE)
endfunction()

# Each file once at each of its levels, and a table a level: the header kernel_levels.h says which level's kernels it has.
function(mynah_simulated_kernels library)
  list(JOIN MYNAH_SIMT_LEVELS "," levels)
  target_compile_definitions(${library} PRIVATE "MYNAH_SIMT_LEVELS=${levels}")
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  foreach(level IN LISTS MYNAH_SIMT_LEVELS)
    set(objects ${library}_sm${level})
    add_library(${objects} OBJECT simt/kernel_table.cpp)
    target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_BINARY_DIR}/sm${level}")
    target_link_libraries(${objects} PRIVATE mynah_warnings mynah_baseline)
    target_compile_definitions(${objects} PRIVATE MYNAH_LEVEL=${level})
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
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/sm${level}/kernel_levels.h" CONTENT "${header}" @ONLY)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

# PTX text: no header and no library of a CUDA toolkit. What is fused is said in the source (multiply_add), so that one sum
# has the same bits wherever it is written; what is not inlined would keep its arrays in memory. The ISA is the oldest that
# has a level's instructions, so that old drivers take it (programs/programs.cpp names it too).
function(mynah_ptx_program program source level isa)
  add_custom_command(
    OUTPUT "${program}"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${MYNAH_DEVICE_CLANG}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_${level} -nocudainc -nocudalib
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
  list(TRANSFORM MYNAH_KERNEL_LEVELS REPLACE ":.*" "" OUTPUT_VARIABLE levels)
  foreach(level_isa IN LISTS MYNAH_KERNEL_LEVELS)
    string(REPLACE ":" ";" level_isa "${level_isa}")
    list(GET level_isa 0 level)
    list(GET level_isa 1 isa)
    foreach(source IN LISTS ARGN)
      get_filename_component(group "${source}" NAME_WE)
      mynah_level_of(of_group "${group}" ${level} ${levels})
      if(of_group EQUAL level)
        set(program "${CMAKE_CURRENT_BINARY_DIR}/${group}.sm${level}.ptx")
        mynah_ptx_program("${program}" "${source}" ${level} ${isa})
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
