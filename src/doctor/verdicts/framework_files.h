// Which files of a framework decide what becomes of it, and which libraries it does not get.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// What is behind the last '/' or '\'.
[[nodiscard]] std::string_view file_name(std::string_view path);

// The device code that a framework's own kernels are in. Those of NVIDIA's libraries beside it are
// none of them: these choose their kernels themselves.
[[nodiscard]] std::vector<const DeviceCode*> deciding_code(const Framework& framework);

// The major version of CUDA whose libraries a framework wants; 0: not known.
[[nodiscard]] int cuda_major_of(const Framework& framework, const Knowledge& knowledge);

// What a framework does without a library.
enum class Without : uint8_t {
  Import,  // nothing: it cannot be imported
  Card,    // it fails at its first call for a card
  Words,   // it computes on the processor, which a line of its log says at most
};

// A library that a framework does not get.
struct LibraryProblem {
  LibraryWant want;
  Without without = Without::Import;
  bool misfit = false;      // one is found, and it does not fit
  bool on_the_way = false;  // torch, imported before, would have loaded it
  bool of_driver = false;
  std::string text;  // a clause, "libcublas.so.12 is not on the loader's way"
};

// Of files that were looked at; guesses do not count.
[[nodiscard]] std::vector<LibraryProblem> library_problems(const Framework& framework,
                                                           const Knowledge& knowledge);

// Whether it is one of NVIDIA's libraries (cuDNN, cuBLAS, NCCL), whose code decides about the
// frameworks that compute with it.
[[nodiscard]] bool is_cuda_library(const Framework& framework);

// The cuDNN ("cudnn") or cuBLAS ("cublas") that a framework would compute with, as far as its code
// is known: of its own files, of its environment, or the one that it was built with.
[[nodiscard]] std::optional<Framework> cuda_library_of(std::string_view library,
                                                       const Framework& framework,
                                                       const PythonEnvironment* environment,
                                                       const Knowledge& knowledge);

}  // namespace mynah::doctor
