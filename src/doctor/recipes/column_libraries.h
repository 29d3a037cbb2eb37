// Which libraries of CUDA an image holds where the loader looks, and which its packages open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// A package and the libraries of CUDA that it opens by name once it computes on a card.
struct OpenedLibraries {
  std::string package;
  std::string version;  // empty: the newest that comes
  int cuda_major = 0;
  int cudnn_major = 0;  // 0: none
  const Asked* asked = nullptr;
  std::string by = {};  // that asks for it, where nobody asks for it by its own name
  // Where it may come from, of whose builds nobody knows, and which then may want other libraries;
  // empty: from nowhere else than the Python index.
  std::string elsewhere = {};
};

// What a package does not find in an image.
struct LibraryLack {
  OpenedLibraries opens;
  bool cublas = false;
  bool cudnn = false;
  bool beside = false;  // wheels bring it, into folders of their own
};

// "ctranslate2 4.8.2", or the package alone where several may come.
[[nodiscard]] std::string title_of(const OpenedLibraries& opens);

// "cuBLAS 12 and cuDNN 9"; 0: none of that.
[[nodiscard]] std::string library_words(int cuda_major, int cudnn_major);

// What becomes of a package that does not find them.
[[nodiscard]] std::string_view lack_words(std::string_view package);

// What a program prints that lacks them.
[[nodiscard]] std::string error_of(const LibraryLack& lack);

// Packages of a column that open libraries of CUDA by name.
[[nodiscard]] std::vector<OpenedLibraries> opened_libraries(const RecipeColumn& column,
                                                            const Knowledge& knowledge);

// What packages of an image do not find. Nothing where nobody knows what the image holds, or where
// all is for the processor.
[[nodiscard]] std::vector<LibraryLack> library_lacks(const RecipeColumn& column,
                                                     const Knowledge& knowledge);

// Whether a machine has a card of NVIDIA's.
[[nodiscard]] bool has_nvidia_card(const Machine& machine);

// Whether the recipe itself speaks of a card.
[[nodiscard]] bool speaks_of_card(const RecipeColumn& column);

// NVIDIA's wheels of one CUDA, as requirements: cuBLAS, what ONNX Runtime opens besides, cuDNN (0:
// none). Nothing for a CUDA whose wheels are not known.
[[nodiscard]] std::vector<std::string> cuda_wheels(int cuda_major, int cudnn_major,
                                                   bool onnxruntime);

// The folders below site-packages that those wheels of one CUDA fill: "nvidia/cublas/lib".
[[nodiscard]] std::vector<std::string> wheel_folders(int cuda_major, bool cudnn, bool onnxruntime,
                                                     const Knowledge& knowledge);

// The same image of NVIDIA's with these libraries in it, beside which torch still stands on one
// cuDNN. Empty: it is none of NVIDIA's, or none is known. cuDNN 0: whatever it has of that.
[[nodiscard]] std::string image_with(const RecipeColumn& column, int cuda_major, int cudnn_major,
                                     const Knowledge& knowledge);

}  // namespace mynah::doctor
