// What a package is known to bring without a look at its files: so that recipes, plans and remedies
// are judged by the very rules that judge what is installed.
#pragma once

#include <optional>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// The framework that a wheel of this name (as PEP 503 normalises it) and version brings: torch,
// onnxruntime, onnxruntime-gpu, ctranslate2, llama-cpp-python, and NVIDIA's cuDNN and cuBLAS, which
// are frameworks here too. A torch without a local part is that of the Python index,
// llama-cpp-python with one ("0.3.4+cu124") of its own index. `source` says where the facts are
// from and `unverified` which of them nobody read; libraries stand in `wants` with nothing found.
// None where nothing is known of such a wheel: of a version that was never released, and of
// releases before the final one, nothing is; what is newer than all that is known is taken for the
// newest, and not verified.
[[nodiscard]] std::optional<Framework> known_framework(std::string_view name,
                                                       const Version& version, System system,
                                                       const Knowledge& knowledge);

// One of which nothing but its name is known.
[[nodiscard]] Framework unknown_framework(std::string_view name, const Version& version);

// The name of mynah itself as a framework.
inline constexpr std::string_view kMynah = "mynah";

// mynah itself, whose device code is PTX that old drivers take (docs/cuda.md).
[[nodiscard]] Framework mynah_framework();

// Puts a package into an environment in place of the one of its name, as an installer would: its
// metadata, and what the knowledge base has of its files.
void install(PythonEnvironment& environment, std::string_view name, const std::string& version,
             const Knowledge& knowledge);

}  // namespace mynah::doctor
