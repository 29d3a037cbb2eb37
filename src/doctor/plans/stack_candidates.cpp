#include "doctor/plans/stack_candidates.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/knowledge/pythons.h"
#include "doctor/plans/stack_plan.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

// That of llama-cpp-python, whose releases with wheels the note "llama wheels" names: this one is
// there for every CUDA version that the knowledge base lists.
constexpr std::string_view kLlamaIndex = "https://abetlen.github.io/llama-cpp-python/whl/";
constexpr std::string_view kLlamaRelease = "0.3.4";

const std::vector<Version>& releases(std::string_view name, const Knowledge& knowledge) {
  static const std::vector<Version> none;
  const PackageReleases* const listed = knowledge.releases_of(name);
  return listed == nullptr ? none : listed->releases;
}

// "cu128" is CUDA 12, "cu92" CUDA 9.
int cuda_major(std::string_view variant) {
  int number = 0;
  for (const char digit : variant.substr(2)) {
    number = number * 10 + (digit - '0');
  }
  return number / 10;
}

Version with_local(const Version& version, std::string_view local) {
  const auto both = Version::parse(fmt::format("{}+{}", version.text(), local));
  return both ? *both : version;
}

std::optional<Requirement> requirement(const std::string& text) {
  auto parsed = parse_requirement(text);
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

// The cuDNN of a build: what its wheel pins, else the major version that the release's other builds
// pin, or the nearest older release's. 0: it has none, or nothing says.
int cudnn_major(const TorchVariant& variant, const TorchRelease& release,
                const Knowledge& knowledge) {
  const auto major = [](const TorchVariant& each) {
    const auto version = Version::parse(each.cudnn);
    return version ? static_cast<int>(version->release_at(0)) : 0;
  };
  if (const int own = major(variant); own != 0 || !variant.cuda.starts_with("cu")) {
    return own;
  }
  const auto at = std::ranges::find(knowledge.torch, release.torch, &TorchRelease::torch);
  for (auto older = std::make_reverse_iterator(at == knowledge.torch.end() ? at : std::next(at));
       older != knowledge.torch.rend(); ++older) {
    for (const TorchVariant& other : older->variants) {
      if (const int found = major(other); found != 0) {
        return found;
      }
    }
  }
  return 0;
}

std::vector<StackCandidate> torch(const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const Version& version : releases("torch", knowledge)) {
    const TorchRelease* const release = knowledge.torch_release(version);
    if (release == nullptr) {
      continue;
    }
    for (const TorchVariant& variant : release->variants) {
      found.push_back({.name = "torch",
                       .version = with_local(version, variant.cuda),
                       .index = torch_index(variant.cuda),
                       .python = release->python,
                       .needs = {},
                       .certain = variant.verified,
                       .cuda_major = cuda_major(variant.cuda),
                       .cudnn_major = cudnn_major(variant, *release, knowledge),
                       .cudnn = variant.cudnn,
                       .framework = true});
    }
  }
  // Of one release the variant that the index takes by itself first, then the newest CUDA.
  std::ranges::stable_sort(found, [&](const StackCandidate& a, const StackCandidate& b) {
    if (a.version.public_part() != b.version.public_part()) {
      return b.version.public_part() < a.version.public_part();
    }
    const std::string& usual = knowledge.torch_release(a.version)->default_variant.value;
    if ((a.version.local_text() == usual) != (b.version.local_text() == usual)) {
      return a.version.local_text() == usual;
    }
    return b.version < a.version;
  });
  return found;
}

// torchaudio and torchvision are built for one release of torch each.
std::vector<StackCandidate> companions(std::string_view name, const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const TorchRelease& release : knowledge.torch) {
    const std::optional<Claim>& claim = series_of_companion(name, release);
    const auto minor = Version::parse(claim ? claim->value : "");
    if (!minor) {
      continue;
    }
    for (const Version& own : releases_of_minor(name, *minor, knowledge)) {
      const auto pair = pair_of_companion(name, own, knowledge);
      const bool built_for_it = pair && knowledge.torch_release(pair->torch) == &release;
      for (const TorchVariant& variant : release.variants) {
        if (!has_build(name, own, variant.cuda, knowledge)) {
          continue;
        }
        const auto add = [&](const std::string& needed) {
          found.push_back({.name = std::string(name),
                           .version = with_local(own, variant.cuda),
                           .index = torch_index(variant.cuda),
                           .python = release.python,
                           .needs = {*requirement(needed)},
                           .certain = claim->verified && pair,
                           .cudnn = {}});
        };
        if (built_for_it) {
          add(fmt::format("torch=={}+{}", pair->torch.text(), variant.cuda));
        } else if (!pair) {
          add(fmt::format("torch=={}.*", release.torch));
        } else {
          // The last torchaudio goes with torches after its own, too, of the same CUDA version.
          for (const Version& torch :
               releases_of_minor("torch", *Version::parse(release.torch), knowledge)) {
            add(fmt::format("torch=={}+{}", torch.text(), variant.cuda));
          }
        }
      }
    }
  }
  std::ranges::sort(found, std::ranges::greater{}, &StackCandidate::version);
  return found;
}

std::vector<StackCandidate> torchcodec(const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const Version& version : releases("torchcodec", knowledge)) {
    // The newest release of torch that it is for says it all: releases are tried with each.
    for (auto release = knowledge.torch.rbegin(); release != knowledge.torch.rend(); ++release) {
      const auto fits =
          SpecifierSet::parse(release->torchcodec ? release->torchcodec->value : "==0");
      if (fits && fits->contains(version)) {
        found.push_back({.name = "torchcodec",
                         .version = version,
                         .index = {},
                         .python = release->python,
                         .needs = {*requirement(fmt::format("torch=={}.*", release->torch))},
                         .certain = release->torchcodec->verified,
                         .cudnn = {}});
      }
    }
  }
  return found;
}

StackCandidate computing(std::string_view name, const Version& version, bool certain,
                         int cuda_major, int cudnn_major) {
  return {.name = std::string(name),
          .version = version,
          .index = {},
          .python = {},
          .needs = {},
          .certain = certain,
          .cuda_major = cuda_major,
          .cudnn_major = cudnn_major,
          .cudnn = {},
          .framework = true};
}

std::vector<StackCandidate> onnxruntime(const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const Version& version : releases("onnxruntime-gpu", knowledge)) {
    if (const OnnxRuntimeRelease* const release = knowledge.onnxruntime_release(version)) {
      found.push_back(computing("onnxruntime-gpu", version, release->verified, release->cuda_major,
                                release->cudnn_major));
      found.back().python = release->python;
    }
  }
  return found;
}

std::vector<StackCandidate> ctranslate2(const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const Version& version : releases("ctranslate2", knowledge)) {
    if (const CTranslate2Release* const release = knowledge.ctranslate2_release(version)) {
      found.push_back(computing("ctranslate2", version, release->verified, release->cuda_major,
                                release->cudnn_major));
      found.back().python = release->python;
    }
  }
  return found;
}

std::vector<StackCandidate> llama(const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const LlamaWheels& wheels : knowledge.llama_wheels) {
    if (wheels.exists) {
      found.push_back({.name = "llama-cpp-python",
                       .version = *Version::parse(fmt::format("{}+{}", kLlamaRelease, wheels.cuda)),
                       .index = std::string(kLlamaIndex) + wheels.cuda,
                       .python = wheels.python,
                       .needs = {},
                       .certain = wheels.verified,
                       .cuda_major = cuda_major(wheels.cuda),
                       .cudnn = {},
                       .framework = true});
    }
  }
  std::ranges::sort(found, std::ranges::greater{}, &StackCandidate::version);
  return found;
}

// Left to the installer: its files are those of onnxruntime-gpu, which plans choose.
constexpr std::string_view kUnplanned = "onnxruntime";

// Whether an installer finds nothing on a Python for what is asked for, as far as is known.
bool has_none(const Requirement& need, std::string_view python, const Knowledge& knowledge) {
  const auto marker = Marker::parse(need.marker);
  const auto range = SpecifierSet::parse(need.specifier);
  const auto version = Version::parse(fmt::format("{}.5", python));
  const bool asked =
      need.marker.empty() || !marker ||
      marker->holds({.system = System::Linux, .python = std::string(python), .extras = {}}) !=
          Truth::No;
  const std::vector<Version>& all = releases(need.name, knowledge);
  return asked && range && version && !all.empty() &&
         std::ranges::none_of(all, [&](const Version& release) {
           const auto pythons = pythons_of(need.name, release, knowledge);
           return (range->clauses.empty() || range->contains(release)) &&
                  (!pythons || pythons->range.contains(*version));
         });
}

// A package that computes by others: what the knowledge base says that it asks for.
std::vector<StackCandidate> others(std::string_view name, const Knowledge& knowledge) {
  std::vector<StackCandidate> found;
  for (const Version& version : releases(name, knowledge)) {
    const PackageNeeds* const needs = knowledge.package(name, version);
    if (needs == nullptr) {
      continue;
    }
    StackCandidate candidate{.name = std::string(name),
                             .version = version,
                             .index = {},
                             .python = {},
                             .needs = {},
                             .certain = needs->verified,
                             .cudnn = {}};
    if (auto python = SpecifierSet::parse(needs->python)) {
      candidate.python = *std::move(python);
      candidate.asks_for_python = true;
    }
    for (const std::string& text : needs->requires_) {
      auto need = requirement(text);
      if (!need) {
        continue;
      }
      for (const std::string_view python : planned_pythons()) {
        if (need->name == kUnplanned && has_none(*need, python, knowledge)) {
          candidate.no_pythons.emplace_back(python);
        }
      }
      candidate.needs.push_back(*std::move(need));
    }
    found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

std::vector<StackCandidate> stack_candidates(std::string_view name, const Knowledge& knowledge) {
  if (name == "torch") {
    return torch(knowledge);
  }
  if (name == "torchaudio" || name == "torchvision") {
    return companions(name, knowledge);
  }
  if (name == "torchcodec") {
    return torchcodec(knowledge);
  }
  if (name == "onnxruntime-gpu") {
    return onnxruntime(knowledge);
  }
  if (name == "ctranslate2") {
    return ctranslate2(knowledge);
  }
  if (name == "llama-cpp-python") {
    return llama(knowledge);
  }
  return name == kUnplanned ? std::vector<StackCandidate>() : others(name, knowledge);
}

}  // namespace mynah::doctor
