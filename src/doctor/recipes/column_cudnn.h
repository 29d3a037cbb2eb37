// Which cuDNN a column brings, and which its packages want.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// A cuDNN that comes.
struct CudnnThere {
  int major = 0;
  std::string version;           // "9.1.0.70", or its major alone
  std::string by;                // "torch 2.5.1+cu124", "the image"
  const Asked* asked = nullptr;  // the requirement that brings it; null: the image does
  bool of_system = false;        // apt's, of an image
};

// A package that opens libcudnn of one major version.
struct CudnnWanted {
  int major = 0;
  std::string package;
  Version version;
  const Asked* asked = nullptr;
  std::string by;  // the package that asks for it: "whisperx 3.4.2"; empty: the recipe itself
};

struct ColumnCudnn {
  std::vector<CudnnThere> there;
  std::vector<CudnnWanted> wanted;

  // Whether others are there, and not that one: files of cuDNN 8 and 9 have other names. Where none
  // is there, an image that was not looked into may hold it.
  [[nodiscard]] bool lacks(const CudnnWanted& wish) const;

  // "9.1.0.70 by torch 2.5.1+cu124, 8 by the image".
  [[nodiscard]] std::string there_text() const;
};

// What the extras "cuda" and "cudnn" of an onnxruntime-gpu do (knowledge/onnxruntime.json, the
// notes "onnxruntime extras" and "onnxruntime 1.27 extras").
enum class OnnxRuntimeExtras : uint8_t {
  None,     // there are none: the installer warns and goes on
  Bring,    // NVIDIA's wheels
  Missing,  // ask for wheels that do not exist
};

[[nodiscard]] OnnxRuntimeExtras onnxruntime_extras(const Version& version);

[[nodiscard]] ColumnCudnn cudnn_of(const RecipeColumn& column, const Knowledge& knowledge);

}  // namespace mynah::doctor
