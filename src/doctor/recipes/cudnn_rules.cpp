// Rules about the cuDNN that comes and the one that is wanted.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// What a program prints that does not find it.
std::string error_of(const CudnnWanted& wish) {
  if (wish.package == "onnxruntime-gpu") {
    return fmt::format(
        "libonnxruntime_providers_cuda.so with error: libcudnn.so.{}: cannot open shared object "
        "file",
        wish.major);
  }
  return wish.major == 8
             ? "Could not load library libcudnn_ops_infer.so.8"
             : fmt::format("Unable to load any of {{libcudnn_ops.so.{}...}}", wish.major);
}

// Releases of a package that want what is there, or no cuDNN at all: the newest of each.
void propose_releases(const Diagnosis& diagnosis, const RecipeColumn& column,
                      const ColumnCudnn& cudnn, const CudnnWanted& wish, Proposals& proposals) {
  const PackageReleases* listed = diagnosis.knowledge.releases_of(wish.package);
  const auto torch = torch_of(column, diagnosis.knowledge);
  const int cuda = torch ? major_version(cuda_of_variant(torch->local_text())) : 0;
  std::set<int> majors = {0};
  for (const CudnnThere& there : cudnn.there) {
    majors.insert(there.major);
  }
  if (listed == nullptr) {
    return;
  }
  for (const Version& release : listed->releases) {
    const auto wants = stretch_of(wish.package, release, diagnosis.knowledge);
    const bool fits = wants && wants->verified && (cuda == 0 || wants->cuda_major == cuda);
    if (fits && !release.is_prerelease() && majors.erase(wants->cudnn_major) > 0) {
      propose(diagnosis, proposals,
              {pin_edit(column, *wish.asked, "==" + release.text(),
                        fmt::format("it wants {}", wants->wants))});
    }
  }
}

// The wheel of cuDNN of the version that is wanted; torch's own pin of it is not to be touched.
void propose_wheel(const Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                   const CudnnWanted& wish, Proposals& proposals) {
  for (const CudnnThere& there : cudnn.there) {
    const PackageReleases* listed = there.asked != nullptr && there.by.starts_with("nvidia-cudnn")
                                        ? diagnosis.knowledge.releases_of(there.by)
                                        : nullptr;
    if (listed == nullptr || column.asks_for("torch")) {
      continue;
    }
    const auto release = std::ranges::find_if(listed->releases, [&](const Version& version) {
      return major_version(version.text()) == wish.major;
    });
    if (release != listed->releases.end()) {
      propose(diagnosis, proposals,
              {pin_edit(column, *there.asked, "==" + release->text(),
                        fmt::format("{} {} wants cuDNN {}", wish.package, wish.version.text(),
                                    wish.major))});
    }
  }
}

// An image whose cuDNN it is, where the present one has another.
void propose_image(const Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                   const CudnnWanted& wish, Proposals& proposals) {
  const bool of_image = std::ranges::any_of(
      cudnn.there, [](const CudnnThere& there) { return there.asked == nullptr; });
  const auto wants = stretch_of(wish.package, wish.version, diagnosis.knowledge);
  const std::string image =
      of_image && wants ? image_with(column, wants->cuda_major, wish.major, diagnosis.knowledge)
                        : "";
  if (!image.empty() && image != column.image) {
    propose(diagnosis, proposals,
            {image_edit(column, image, fmt::format("it holds cuDNN {}", wish.major))});
  }
}

void judge_wish(Diagnosis& diagnosis, const RecipeColumn& column, const ColumnCudnn& cudnn,
                const CudnnWanted& wish, Proposals& proposals) {
  Finding& finding =
      add_finding(diagnosis, "cudnn of another version", Level::Warning, Certainty::Likely,
                  fmt::format("{} {} in {}", wish.package, wish.version.text(), column.name),
                  fmt::format("{} {} wants cuDNN {}, and another one comes: {}.", wish.package,
                              wish.version.text(), wish.major, cudnn.there_text()));
  finding.error = error_of(wish);
  finding.evidence.push_back(evidence_of(*wish.asked));
  for (const CudnnThere& there : cudnn.there) {
    const Evidence seen = there.asked != nullptr ? evidence_of(*there.asked)
                                                 : Evidence{column.image, column.image_where};
    if (std::ranges::find(finding.evidence, seen) == finding.evidence.end()) {
      finding.evidence.push_back(seen);
    }
  }
  propose_wheel(diagnosis, column, cudnn, wish, proposals);
  propose_releases(diagnosis, column, cudnn, wish, proposals);
  propose_image(diagnosis, column, cudnn, wish, proposals);
}

// "onnxruntime-gpu[cuda,cudnn]" of releases whose extras bring nothing.
void judge_extras(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Resolved resolved = resolve(column, "onnxruntime-gpu");
  const bool asks =
      resolved.version &&
      std::ranges::any_of(resolved.by->requirement->extras, [](const std::string& extra) {
        return extra == "cuda" || extra == "cudnn";
      });
  const OnnxRuntimeExtras extras =
      asks ? onnxruntime_extras(*resolved.version) : OnnxRuntimeExtras::Bring;
  if (extras == OnnxRuntimeExtras::Bring) {
    return;
  }
  const bool none = extras == OnnxRuntimeExtras::None;
  const std::string version = resolved.version->text();
  Finding& finding = add_finding(
      diagnosis, "extras bring nothing", Level::Warning,
      none ? Certainty::Certain : Certainty::Likely,
      fmt::format("onnxruntime-gpu {} in {}", version, column.name),
      none ? fmt::format("onnxruntime-gpu {} has no extras \"cuda\" and \"cudnn\": the installer "
                         "warns, goes on, and brings none of NVIDIA's libraries.",
                         version)
           : fmt::format("The extras of onnxruntime-gpu {} ask for wheels that do not exist, so "
                         "that an installer refuses.",
                         version));
  finding.evidence.push_back(evidence_of(*resolved.by));
  if (const Note* note =
          diagnosis.knowledge.note(none ? "onnxruntime extras" : "onnxruntime 1.27 extras")) {
    finding.evidence.push_back({note->text, note->source});
  }
  const auto wants = stretch_of("onnxruntime-gpu", *resolved.version, diagnosis.knowledge);
  const PackageReleases* listed = diagnosis.knowledge.releases_of("onnxruntime-gpu");
  if (!wants || listed == nullptr) {
    return;
  }
  for (const Version& release : listed->releases) {
    const auto other = stretch_of("onnxruntime-gpu", release, diagnosis.knowledge);
    if (other && other->verified && other->cuda_major == wants->cuda_major &&
        onnxruntime_extras(release) == OnnxRuntimeExtras::Bring) {
      propose(
          diagnosis, proposals,
          {pin_edit(column, *resolved.by, "==" + release.text(),
                    fmt::format("its extras bring the libraries of CUDA {}", other->cuda_major))});
      return;
    }
  }
  // No release of that CUDA has such extras: what they were to bring comes by itself.
  const Asked& asked = *resolved.by;
  AlignmentEdit bare =
      pin_edit(column, asked, asked.requirement->specifier, "its extras bring nothing");
  bare.to = "onnxruntime-gpu" + asked.requirement->specifier;
  const auto torch = torch_of(column, diagnosis.knowledge);
  const TorchVariant* variant = torch ? diagnosis.knowledge.torch_variant(*torch) : nullptr;
  if (variant != nullptr && major_version(cuda_of_variant(variant->cuda)) == wants->cuda_major &&
      major_version(variant->cudnn) == wants->cudnn_major) {
    bare.why += fmt::format("; torch {} brings the libraries: import it first", torch->text());
    propose(diagnosis, proposals, {bare});
    return;
  }
  std::vector<AlignmentEdit> edits = {bare};
  for (const std::string& line : cuda_wheels(wants->cuda_major, wants->cudnn_major, true)) {
    edits.push_back({.file = asked.recipe->path,
                     .line = 0,
                     .from = {},
                     .to = line,
                     .why = "it opens what this brings"});
  }
  if (edits.size() > 1) {
    propose(diagnosis, proposals, std::move(edits),
            "Ask for NVIDIA's wheels by their names, and show the loader where they lie.");
  }
}

}  // namespace

void judge_cudnn(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const ColumnCudnn cudnn = cudnn_of(column, diagnosis.knowledge);
  for (const CudnnWanted& wish : cudnn.wanted) {
    if (cudnn.lacks(wish)) {
      judge_wish(diagnosis, column, cudnn, wish, proposals);
    }
  }
  judge_extras(diagnosis, column, proposals);
}

}  // namespace mynah::doctor
