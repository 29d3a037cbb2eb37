// The cuBLAS that comes into a column, and the one that its packages open.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// A cuBLAS that comes.
struct CublasThere {
  std::string cuda;              // "11.8", "11"
  std::string by;                // "torch 2.5.1+cu118", "nvidia-cublas-cu11"
  const Asked* asked = nullptr;  // the requirement that brings it
};

// A package opens the cuBLAS of one CUDA version, and others alone come: files of each have other
// names.
struct CublasLack {
  CublasThere there;
  int wanted = 0;                // 12
  const Asked* asked = nullptr;  // that brings the package
  std::string by;                // the package that asks for it; empty: the recipe itself
};

// What brings cuBLAS by wheels; nothing is known of the machine's own.
[[nodiscard]] std::vector<CublasThere> cublas_of(const RecipeColumn& column,
                                                 const Knowledge& knowledge);

// Whether something else may bring a cuBLAS: a torch of which nobody knows the build, extras of
// ONNX Runtime, conda's packages.
[[nodiscard]] bool may_bring_cublas(const RecipeColumn& column, const Knowledge& knowledge);

// Of ctranslate2 or onnxruntime-gpu. None: it is there, or nobody knows; images are looked at by
// column_libraries.h.
[[nodiscard]] std::optional<CublasLack> cublas_lack(const RecipeColumn& column,
                                                    std::string_view package,
                                                    const Machine& machine,
                                                    const Knowledge& knowledge);

}  // namespace mynah::doctor
