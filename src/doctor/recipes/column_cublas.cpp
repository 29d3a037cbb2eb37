#include "doctor/recipes/column_cublas.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/machine_lacks.h"
#include "doctor/recipes/recipe_drift.h"

namespace mynah::doctor {

std::vector<CublasThere> cublas_of(const RecipeColumn& column, const Knowledge& knowledge) {
  std::vector<CublasThere> there;
  const auto torch = torch_of(column, knowledge);
  const Resolved torch_by = resolve(column, "torch");
  const std::string of_torch = torch ? cuda_of_variant(torch->local_text()) : "";
  if (torch_by.by != nullptr && !of_torch.empty()) {
    there.push_back({of_torch, "torch " + torch->text(), torch_by.by});
  }
  // NVIDIA's wheels of cuDNN ask for cuBLAS.
  constexpr std::pair<std::string_view, std::string_view> kWheels[] = {
      {"nvidia-cublas-cu11", "11"}, {"nvidia-cudnn-cu11", "11"}, {"nvidia-cublas-cu12", "12"},
      {"nvidia-cudnn-cu12", "12"},  {"nvidia-cublas", "13"},     {"nvidia-cudnn-cu13", "13"}};
  for (const auto& [wheel, cuda] : kWheels) {
    if (const Resolved asked = resolve(column, wheel); asked.by != nullptr) {
      there.push_back({std::string(cuda), std::string(wheel), asked.by});
    }
  }
  return there;
}

bool may_bring_cublas(const RecipeColumn& column, const Knowledge& knowledge) {
  const Resolved onnxruntime = resolve(column, "onnxruntime-gpu");
  return (column.asks_for("torch") && !torch_of(column, knowledge)) ||
         (onnxruntime.by != nullptr && !onnxruntime.by->requirement->extras.empty()) ||
         std::ranges::any_of(column.recipes, [](const Recipe* recipe) {
           return std::ranges::any_of(recipe->requirements, [](const Requirement& requirement) {
             return requirement.url == "conda";
           });
         });
}

std::optional<CublasLack> cublas_lack(const RecipeColumn& column, std::string_view package,
                                      const Machine& machine, const Knowledge& knowledge) {
  if (column.is_image()) {
    return std::nullopt;
  }
  const Resolved own = resolve(column, package);
  const Derived other = own.by == nullptr ? brought(column, package, knowledge) : Derived();
  const Asked* const by = own.by != nullptr ? own.by : other.asked;
  const auto all = stretches(package, own.by != nullptr ? own.range : other.range, knowledge);
  if (by == nullptr || all.empty() || !by->requirement->url.empty()) {
    return std::nullopt;
  }
  const int wanted = all.back().cuda_major;
  std::vector<CublasThere> there = cublas_of(column, knowledge);
  const bool fits = std::ranges::any_of(
      there, [&](const CublasThere& one) { return major_version(one.cuda) == wanted; });
  if (wanted == 0 || there.empty() || fits || may_bring_cublas(column, knowledge) ||
      loader_finds(machine, "libcublas", wanted)) {
    return std::nullopt;
  }
  return CublasLack{
      .there = std::move(there.front()), .wanted = wanted, .asked = by, .by = other.by};
}

}  // namespace mynah::doctor
