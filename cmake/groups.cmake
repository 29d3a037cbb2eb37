# mynah_groups(target): neighbours among its sources are compiled together, so that the headers, 40 to 45 % of what a source
# takes to compile, are read once a group. Neighbours stand in one folder, next to each other by name, at most
# MYNAH_GROUP_SOURCES of them: a source that changes takes the others of its group along.
#
# A group is one translation unit: what its sources name in an unnamed namespace, as an alias or as a macro must differ
# (tests/house/groups.py finds functions that the compiler takes for each other in silence).
# A source with flags or definitions of its own is compiled alone, as is every source of a build with MYNAH_GROUPS=OFF.
option(MYNAH_GROUPS "Compile neighbouring sources together" ON)
set(MYNAH_GROUP_SOURCES 8)

function(mynah_groups target)
  if(NOT MYNAH_GROUPS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  set(folders "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${home}" NORMALIZE)
    # What the build writes has names of its own and is long.
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" generated)
    if(NOT generated AND source MATCHES "\\.cpp$")
      mynah_own_flags(own_flags ${target} "${source}")
      if(NOT own_flags)
        cmake_path(GET source PARENT_PATH folder)
        list(APPEND folders "${folder}")
        list(APPEND "sources of ${folder}" "${source}")
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    list(SORT "sources of ${folder}")
    list(LENGTH "sources of ${folder}" count)
    if(count EQUAL 1)
      continue()
    endif()
    # As many groups as are needed, of one size.
    math(EXPR groups "(${count} + ${MYNAH_GROUP_SOURCES} - 1) / ${MYNAH_GROUP_SOURCES}")
    set(position 0)
    foreach(source IN LISTS "sources of ${folder}")
      math(EXPR group "${position} * ${groups} / ${count}")
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${name}_${group}")
      math(EXPR position "${position} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# mynah_group_later(target): groups its sources once every folder has added its own.
function(mynah_group_later target)
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${PROJECT_SOURCE_DIR}]] CALL mynah_groups ${target})")
endfunction()

# mynah_own_flags(variable target source): sets it where the source is compiled in a way of its own.
function(mynah_own_flags variable target source)
  set(${variable} OFF PARENT_SCOPE)
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(value "${source}" TARGET_DIRECTORY ${target} ${property})
    if(value)
      set(${variable} ON PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
