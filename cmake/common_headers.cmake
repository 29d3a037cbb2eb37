# What a file takes to compile is to a good part the standard library's headers, so they are read once: for every test, for
# every library under the sanitizers, and in the release for those without optimisation beyond -O1 (g++ 12 warns of what is not
# there in some others). A release with MYNAH_GROUPS=OFF reads none before a library's source, and finds one that forgets a
# header; tests/house/headers.py finds a header that does.
set(MYNAH_COMMON_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fmt/format.h>
    <fmt/ranges.h> <fstream> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <set> <span> <string> <string_view> <utility> <vector>)
# Under a sanitizer, where hardly a source is optimised, headers are most of what one takes. There the libraries that read a set
# have those of the house's own that most of them include read once, too: a fifth of their time, of the server's a third. A
# release reads none of these before, and finds what forgets one.
set(MYNAH_HEADER_SETS doctor server)
set(MYNAH_READERS_OF_doctor doctor verdicts)
set(MYNAH_HEADERS_OF_doctor doctor/characters.h doctor/facts.h doctor/finding.h doctor/knowledge/knowledge.h doctor/versions.h)
set(MYNAH_READERS_OF_server server cli cli_hear)
set(MYNAH_HEADERS_OF_server engine/engine.h place/kinds/kinds.h place/placer.h server/hear/hear_file.h server/http/exchange.h
    server/models/service.h)
# A header that was read before is as it was, though ccache or a package gives it another time: ninja knows what changed.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# mynah_library_headers(name option...): the headers, read for libraries that are compiled so: with the same optimisation for
# clang, with the same options but for definitions for g++, which says where it cannot take them.
function(mynah_library_headers name)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${name}.cpp" CONTENT "")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_compile_options(${name} PRIVATE ${ARGN} ${MYNAH_SECTIONS})
  target_link_libraries(${name} PRIVATE mynah_warnings mynah_baseline fmt::fmt)
  target_precompile_headers(${name} PRIVATE ${MYNAH_COMMON_HEADERS})
endfunction()

# mynah_unoptimised_headers(variable library): the target of those that an unoptimised library of this name reads.
function(mynah_unoptimised_headers variable library)
  set(${variable} mynah_headers_unoptimised PARENT_SCOPE)
  foreach(one IN LISTS MYNAH_HEADER_SETS)
    if(library IN_LIST MYNAH_READERS_OF_${one})
      set(${variable} mynah_headers_${one} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  mynah_library_headers(mynah_headers)
  mynah_library_headers(mynah_headers_unoptimised -O0)
  if(MYNAH_UNOPTIMISED)
    foreach(one IN LISTS MYNAH_HEADER_SETS)
      mynah_library_headers(mynah_headers_${one} -O0)
      list(TRANSFORM MYNAH_HEADERS_OF_${one} PREPEND "${PROJECT_SOURCE_DIR}/src/" OUTPUT_VARIABLE own)
      target_precompile_headers(mynah_headers_${one} PRIVATE ${own})
      target_include_directories(mynah_headers_${one} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    endforeach()
  endif()
elseif(MYNAH_GROUPS)
  mynah_library_headers(mynah_headers_plain ${MYNAH_PLAIN_OPTIONS})
endif()
