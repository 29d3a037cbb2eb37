// Architectures that a command compiles device code for, as CMake, PyTorch and nvcc are told them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doctor/recipes/shell_text.h"

namespace mynah::doctor {

// As CMake has them: "86" (machine code and PTX), "86-real" (machine code), "86-virtual" (PTX), of
// -DCMAKE_CUDA_ARCHITECTURES="86;120a-real", of CMAKE_ARGS that hold such a word, of CUDAARCHS, of
// TORCH_CUDA_ARCH_LIST="8.6 12.0a+PTX", of nvcc's -arch and -gencode. Words that are no number
// ("native", "all") and variables stand as they are written. `variables`: set around it.
[[nodiscard]] std::vector<std::string> named_architectures(
    const ShellCommand& command, const std::map<std::string, std::string>& variables);

}  // namespace mynah::doctor
