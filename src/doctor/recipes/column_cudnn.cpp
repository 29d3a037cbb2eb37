#include "doctor/recipes/column_cudnn.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/recipe_drift.h"

namespace mynah::doctor {

namespace {

void add_torch(ColumnCudnn& cudnn, const RecipeColumn& column, const Knowledge& knowledge) {
  const auto torch = torch_of(column, knowledge);
  const TorchVariant* variant = torch ? knowledge.torch_variant(*torch) : nullptr;
  if (variant != nullptr && !variant->cudnn.empty()) {
    cudnn.there.push_back({.major = major_version(variant->cudnn),
                           .version = variant->cudnn,
                           .by = "torch " + torch->text(),
                           .asked = resolve(column, "torch").by});
  }
}

// NVIDIA's wheel, pinned or by a range ("==9.*") whose newest comes.
void add_wheel(ColumnCudnn& cudnn, const RecipeColumn& column, std::string_view wheel,
               const Knowledge& knowledge) {
  const Resolved asked = resolve(column, wheel);
  std::string version = asked.version ? asked.version->text() : "";
  const PackageReleases* known = knowledge.releases_of(wheel);
  if (asked.by != nullptr && version.empty() && known != nullptr) {
    const ListedReleases listed = listed_releases(*known, asked.range);
    version = listed.versions.empty() ? "" : listed.versions.front().text();
  }
  if (!version.empty()) {
    cudnn.there.push_back({.major = major_version(version),
                           .version = std::move(version),
                           .by = std::string(wheel),
                           .asked = asked.by});
  }
}

// The extra of ONNX Runtime that brings NVIDIA's wheel.
void add_extra(ColumnCudnn& cudnn, const Resolved& onnxruntime, const Stretch& wants) {
  const std::vector<std::string>& extras = onnxruntime.by->requirement->extras;
  if (std::ranges::find(extras, "cudnn") != extras.end() &&
      onnxruntime_extras(*onnxruntime.version) == OnnxRuntimeExtras::Bring) {
    cudnn.there.push_back({.major = wants.cudnn_major,
                           .version = std::to_string(wants.cudnn_major),
                           .by = "onnxruntime-gpu[cudnn]",
                           .asked = onnxruntime.by});
  }
}

// apt's stand where the loader looks, beside any of other names.
void add_system(ColumnCudnn& cudnn, const RecipeColumn& column) {
  constexpr std::string_view kPackage = "libcudnn";
  for (const Recipe* recipe : column.recipes) {
    for (const std::string& package : recipe->system_packages) {
      const std::string_view name = package;
      const int major = name.starts_with(kPackage) && name.size() > kPackage.size()
                            ? name[kPackage.size()] - '0'
                            : 0;
      if (major == 8 || major == 9) {
        cudnn.there.push_back({.major = major,
                               .version = std::to_string(major),
                               .by = package,
                               .asked = nullptr,
                               .of_system = true});
      }
    }
  }
}

// Where an image surely holds none, one wheel has to serve all: the newest that is wanted.
void add_wanted(ColumnCudnn& cudnn, const RecipeColumn& column, const Knowledge& knowledge) {
  const auto newest = std::ranges::max_element(cudnn.wanted, {}, &CudnnWanted::major);
  const bool differ = std::ranges::any_of(
      cudnn.wanted, [&](const CudnnWanted& wish) { return wish.major != newest->major; });
  const std::vector<LibraryLack> lacks =
      differ && cudnn.there.empty() ? library_lacks(column, knowledge) : std::vector<LibraryLack>();
  if (lacks.size() > 1 && std::ranges::all_of(lacks, &LibraryLack::cudnn)) {
    cudnn.there.push_back(
        {.major = newest->major,
         .version = std::to_string(newest->major),
         .by = fmt::format("what {} {} wants", newest->package, newest->version.text()),
         .asked = newest->asked});
  }
}

// The constraint that keeps a release of a package away; null: none does.
const Asked* bound_against(const RecipeColumn& column, std::string_view package,
                           const Version& release) {
  const auto found = column.packages.find(std::string(package));
  if (found == column.packages.end()) {
    return nullptr;
  }
  const auto refuses = [&](const Asked& asked) {
    const auto range = SpecifierSet::parse(asked.requirement->specifier);
    return asked.bound && range && !range->contains(release);
  };
  const auto bound = std::ranges::find_if(found->second, refuses);
  return bound == found->second.end() ? nullptr : &*bound;
}

// What a pinned package asks for below some version comes as the newest of them.
void add_derived(ColumnCudnn& cudnn, const RecipeColumn& column, std::string_view package,
                 const Knowledge& knowledge) {
  Derived other = derived(column, package, knowledge);
  const PackageReleases* known = knowledge.releases_of(package);
  if (other.by.empty() || !other.verified || known == nullptr) {
    return;
  }
  const ListedReleases listed = listed_releases(*known, other.range);
  const auto wants = listed.no_newer && !listed.versions.empty()
                         ? stretch_of(package, listed.versions.front(), knowledge)
                         : std::nullopt;
  if (wants && wants->cudnn_major != 0) {
    // What asks for the package would take another, and a constraint holds it back.
    const ListedReleases unbound = listed_releases(*known, other.asks);
    if (const Asked* bound = unbound.versions.empty()
                                 ? nullptr
                                 : bound_against(column, package, unbound.versions.front())) {
      other.asked = bound;
      other.by.clear();
    }
    cudnn.wanted.push_back({.major = wants->cudnn_major,
                            .package = std::string(package),
                            .version = listed.versions.front(),
                            .asked = other.asked,
                            .by = std::move(other.by)});
  }
}

}  // namespace

OnnxRuntimeExtras onnxruntime_extras(const Version& version) {
  if (version.release_at(0) != 1 || version.release_at(1) < 21) {
    return OnnxRuntimeExtras::None;
  }
  return version.release_at(1) == 27 ? OnnxRuntimeExtras::Missing : OnnxRuntimeExtras::Bring;
}

bool ColumnCudnn::lacks(const CudnnWanted& wish) const {
  return !there.empty() && std::ranges::none_of(there, [&](const CudnnThere& one) {
    return one.major == wish.major;
  });
}

std::string ColumnCudnn::there_text() const {
  std::string text;
  for (const CudnnThere& one : there) {
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", one.version, one.by);
  }
  return text;
}

ColumnCudnn cudnn_of(const RecipeColumn& column, const Knowledge& knowledge) {
  ColumnCudnn cudnn;
  add_torch(cudnn, column, knowledge);
  for (const std::string_view wheel :
       {"nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"}) {
    add_wheel(cudnn, column, wheel, knowledge);
  }
  for (const std::string_view package : {"ctranslate2", "onnxruntime-gpu"}) {
    const Resolved pinned = resolve(column, package);
    const auto wants =
        pinned.version ? stretch_of(package, *pinned.version, knowledge) : std::nullopt;
    if (pinned.by == nullptr) {
      add_derived(cudnn, column, package, knowledge);
    }
    if (!wants || wants->cudnn_major == 0) {
      continue;
    }
    cudnn.wanted.push_back({.major = wants->cudnn_major,
                            .package = std::string(package),
                            .version = *pinned.version,
                            .asked = pinned.by,
                            .by = {}});
    if (package == "onnxruntime-gpu") {
      add_extra(cudnn, pinned, *wants);
    }
  }
  if (column.image_says.cudnn_major != 0) {
    cudnn.there.push_back({.major = column.image_says.cudnn_major,
                           .version = std::to_string(column.image_says.cudnn_major),
                           .by = "the image",
                           .asked = nullptr});
  }
  add_system(cudnn, column);
  add_wanted(cudnn, column, knowledge);
  return cudnn;
}

}  // namespace mynah::doctor
