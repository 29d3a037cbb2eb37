# Which kernels are compiled at which compute capability.
# Compute capability, times ten, and PTX ISA of each level; programs/programs.cpp has them too.
# 90 is Hopper's own: no later card runs it.
set(MYNAH_KERNEL_LEVELS 60:60 61:60 75:65 80:70 90a:80)
# The groups (kernels/GROUP.cu) that use a level's own instructions. Every other group is compiled at the first level only, and
# a group that is in several lists runs at the highest that a card has. Groups of matrix units have no lower level.
set(MYNAH_GROUPS_OF_60 ".*")
set(MYNAH_GROUPS_OF_61 "^products_(i8|i?q[0-9]_[a-z0-9]+|mxfp4)$")
set(MYNAH_GROUPS_OF_75 "^products_(i?q[0-9]_[a-z0-9]+|mxfp4)$|^units_.*_f16$|^units_int8.*$")
set(MYNAH_GROUPS_OF_80 "^products_(i?q[0-9]_[a-z0-9]+|mxfp4)$|^units_.*$|^attention_split_.*$")
set(MYNAH_GROUPS_OF_90 "^units_(products|conv1d)_b?f16$")
set(MYNAH_UNIT_GROUPS "^units_.*$")
# The presets simulate one to three levels: the others are the same source with other branches, and take as long again. `./dev test --all`
# and the count of traffic have every one.
set(MYNAH_SIMT_LEVELS "60;61;75;80;90" CACHE STRING "Levels of compute capability that the simulation runs kernels at")

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
