#include "doctor/recipes/machine_lacks.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cublas.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/recipe_drift.h"

namespace mynah::doctor {

bool loader_is_known(const Machine& machine) {
  return !machine.library_folders.empty() || !machine.path_libraries.empty() ||
         !machine.cache_libraries.empty();
}

bool loader_finds(const Machine& machine, std::string_view library, int major) {
  const std::string wanted = fmt::format("{}.so.{}", library, major);
  const auto is_it = [&](const std::string& path) {
    const std::string_view name = file_name_of(path);
    return name == wanted || name.starts_with(wanted + ".");
  };
  return std::ranges::any_of(machine.path_libraries, is_it) ||
         std::ranges::any_of(machine.cache_libraries, is_it);
}

std::vector<LibraryLack> machine_lacks(const RecipeColumn& column, const Machine& machine,
                                       const Knowledge& knowledge) {
  if (column.is_image() || !has_nvidia_card(machine) ||
      system_of(column, machine) != System::Linux || !column.other_machine.empty() ||
      may_bring_cublas(column, knowledge) || is_for_processor(column, knowledge)) {
    return {};
  }
  // torch loads what comes with it.
  if (column.asks_for("torch") || brought(column, "torch", knowledge).asked != nullptr) {
    return {};
  }
  const std::vector<CublasThere> cublas_there = cublas_of(column, knowledge);
  const ColumnCudnn cudnn_there = cudnn_of(column, knowledge);
  std::vector<LibraryLack> all;
  for (const OpenedLibraries& opens : opened_libraries(column, knowledge)) {
    const bool cublas_comes = std::ranges::any_of(cublas_there, [&](const CublasThere& one) {
      return major_version(one.cuda) == opens.cuda_major;
    });
    const bool cudnn_comes = std::ranges::any_of(
        cudnn_there.there, [&](const CudnnThere& one) { return one.major == opens.cudnn_major; });
    const auto lacks = [&](std::string_view library, int major, bool comes, bool other_comes) {
      return major != 0 && !loader_finds(machine, library, major) && (comes || !other_comes);
    };
    const LibraryLack lack{
        .opens = opens,
        .cublas = lacks("libcublas", opens.cuda_major, cublas_comes, !cublas_there.empty()),
        .cudnn = lacks("libcudnn", opens.cudnn_major, cudnn_comes, !cudnn_there.there.empty())};
    if (lack.cublas || lack.cudnn) {
      all.push_back(lack);
      all.back().beside = (!lack.cublas || cublas_comes) && (!lack.cudnn || cudnn_comes);
    }
  }
  return all;
}

}  // namespace mynah::doctor
