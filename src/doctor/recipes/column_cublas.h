// The cuBLAS that comes into a column, and the one that CTranslate2 opens.
#pragma once

#include <optional>
#include <string>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// A cuBLAS that comes.
struct CublasThere {
  std::string cuda;              // "11.8", "11"
  std::string by;                // "torch 2.5.1+cu118", "nvidia-cublas-cu11"
  const Asked* asked = nullptr;  // the requirement that brings it
};

// CTranslate2 opens the cuBLAS of one CUDA version, and others alone come: files of each have
// other names.
struct CublasLack {
  CublasThere there;
  int wanted = 0;                // 12
  const Asked* asked = nullptr;  // that brings CTranslate2
  std::string by;                // the package that asks for it; empty: the recipe itself
};

// None: it is there, or nobody knows; images are looked at by column_libraries.h.
[[nodiscard]] std::optional<CublasLack> cublas_lack(const RecipeColumn& column,
                                                    const Knowledge& knowledge);

}  // namespace mynah::doctor
