// The texts of a CUDA toolkit in which it says what it is and what it takes. All take any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah::doctor {

// "12.1.1" of version.json ("cuda": {"version": ...}); empty: it does not say.
[[nodiscard]] std::string version_of_json(std::string_view json);

// "10.2.89" of version.txt ("CUDA Version 10.2.89"); empty: it does not say.
[[nodiscard]] std::string version_of_text(std::string_view text);

// The number that a header gives a name: "#define CUDA_VERSION 12010". None: no such line, or not a
// number of at most nine digits.
[[nodiscard]] std::optional<int> defined_number(std::string_view header, std::string_view name);

// "12.1" of CUDA_VERSION 12010 (cuda.h: 1000 * major + 10 * minor).
[[nodiscard]] std::string version_of_cuda_number(int number);

// "2.0.1" of CUB_VERSION 200001 (cub/version.cuh: 100000 * major + 100 * minor + subminor).
[[nodiscard]] std::string version_of_cub_number(int number);

// What crt/host_config.h refuses; 0: it does not say.
struct CompilerLimits {
  int gcc_most = 0;    // __GNUC__
  int clang_most = 0;  // __clang_major__
  int msvc_least = 0;  // _MSC_VER
  int msvc_most = 0;

  bool operator==(const CompilerLimits&) const = default;
};

// Reads the conditions in front of its lines "#error -- unsupported ... version!": "__GNUC__ > 12",
// "(__clang_major__ >= 16) || ...", "_MSC_VER < 1910 || _MSC_VER >= 1940" (CUDA 11 to 13).
[[nodiscard]] CompilerLimits compiler_limits(std::string_view host_config);

// _MSC_VER of a folder of Visual C++'s tools: 1938 of "14.38.33130"; 0: it is none. Microsoft's
// "Predefined macros", _MSC_VER: 14.xx is 19xx.
[[nodiscard]] int msc_version(std::string_view tools_version);

}  // namespace mynah::doctor
