# Half of what a file takes to compile is the standard library's headers. The product itself is compiled without them read
# before, so that a file that forgets one is found; the sanitizers' presets, and every test, have them read once.
set(MYNAH_COMMON_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fmt/format.h>
    <fmt/ranges.h> <fstream> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <set> <span> <string> <string_view> <utility> <vector>)
# A header that was read before is as it was, though ccache or a package gives it another time: ninja knows what changed.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# mynah_library_headers(name option...): the headers, read for libraries that are compiled so. clang takes them where the
# optimisation is the same, whatever sections and definitions a library adds.
function(mynah_library_headers name)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${name}.cpp" CONTENT "")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_compile_options(${name} PRIVATE ${ARGN})
  target_link_libraries(${name} PRIVATE mynah_warnings mynah_baseline fmt::fmt)
  target_precompile_headers(${name} PRIVATE ${MYNAH_COMMON_HEADERS})
endfunction()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  mynah_library_headers(mynah_headers)
  mynah_library_headers(mynah_headers_unoptimised -O0)
endif()
