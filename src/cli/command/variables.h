// Variables of the environment that belong to no option.
#pragma once

#include <array>
#include <string_view>

namespace mynah::cli {

struct Variable {
  std::string_view name;     // behind MYNAH_
  std::string_view meaning;  // for the documents
};

inline constexpr std::array kVariables = {
    Variable{"CONFIG", "The configuration file."},
    Variable{"HOME", "The folder of models."},
    Variable{"CUDA_DRIVER", "The NVIDIA driver's library, libcuda.so.1, by its path."},
    Variable{"CUDA_LEVEL",
             "The level of programs that a card runs, such as 80 or 90; unset: what "
             "suits it (docs/cuda.md)."},
    Variable{"NVML", "NVIDIA's management library, libnvidia-ml.so.1, by its path."},
    Variable{"WORKER",
             "The program whose processes stages on a device compute in; unset: mynah "
             "itself."},
    Variable{"FAULT",
             "Faults on purpose, for tests: STAGE:KIND@N, such as stt.decoder:crash@2 "
             "(docs/placement.md)."}};

}  // namespace mynah::cli
