// The names of NVIDIA's wheels that a set of packages is completed with.
#pragma once

#include <string>

namespace mynah::doctor {

// "nvidia-cudnn-cu12".
[[nodiscard]] std::string cudnn_wheel(int cuda_major);

// "nvidia-cublas-cu12"; from CUDA 13 on the wheels have no suffix.
[[nodiscard]] std::string cublas_wheel(int cuda_major);

}  // namespace mynah::doctor
