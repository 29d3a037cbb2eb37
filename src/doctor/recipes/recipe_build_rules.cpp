// What is compiled while an image is made or a file is installed, and environments that are copied
// between images.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/image_system.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

const BaseImage* image_at(const Recipe& recipe, uint64_t line) {
  const auto found = std::ranges::find(recipe.images, line, &BaseImage::line);
  return line == 0 || found == recipe.images.end() ? nullptr : &*found;
}

std::string name_of(const BaseImage& image) {
  return image.tag.empty() ? image.image : image.image + ":" + image.tag;
}

// An architecture that a compiler does not know, and why.
struct NotKnown {
  std::string name;  // "sm_120"
  std::string text;  // "sm_120 (compute capability 12.0) came with CUDA 12.8"
  const Claim* claim = nullptr;
  bool too_new = false;
};

std::optional<NotKnown> unknown_to(const std::string& cuda, const std::string& written,
                                   const Knowledge& knowledge) {
  const std::string digits = written.substr(0, written.find_first_not_of("0123456789"));
  if (digits.size() < 2) {
    return std::nullopt;
  }
  const std::string capability = digits.substr(0, digits.size() - 1) + "." + digits.back();
  const Architecture* architecture = knowledge.architecture(capability);
  if (architecture == nullptr) {
    return std::nullopt;
  }
  const std::string name = fmt::format("sm_{} (compute capability {})", digits, capability);
  const Claim& first = architecture->first_toolkit;
  if (cuda_number(first.value) > cuda_number(cuda)) {
    return NotKnown{.name = "sm_" + digits,
                    .text = fmt::format("{} came with CUDA {}", name, first.value),
                    .claim = &first,
                    .too_new = true};
  }
  const std::optional<Claim>& dropped = architecture->dropped_in;
  if (dropped && cuda_number(dropped->value) <= cuda_number(cuda)) {
    return NotKnown{.name = "sm_" + digits,
                    .text = fmt::format("{} left with CUDA {}", name, dropped->value),
                    .claim = &*dropped};
  }
  return std::nullopt;
}

// The tag of the same image with another CUDA: "12.8.1-devel-ubuntu22.04". Images of CUDA before
// 12.4 name the cuDNN that they hold, which is 8.
std::string tag_with(const BaseImage& image, const std::string& from, const std::string& to) {
  std::string tag = image.tag;
  tag.replace(tag.find(from), from.size(), to);
  const bool plain = cuda_number(to) >= cuda_number(std::string(kFirstCudaOfPlainCudnn));
  const size_t behind = tag.find("-cudnn") + std::string_view("-cudnn").size();
  if (const bool old = tag.contains("-cudnn8"); old && plain) {
    tag.erase(behind, 1);
  } else if (!old && !plain && tag.contains("-cudnn")) {
    tag.insert(behind, "8");
  }
  return tag;
}

// PyTorch's image with a CUDA, of the first release from its own on that is built for it; empty:
// none is known.
std::string torch_image_with(const BaseImage& image, const std::string& cuda,
                             const Knowledge& knowledge) {
  const auto present = Version::parse(image_facts(image.image, image.tag).torch);
  std::string variant = "cu" + cuda;
  std::erase(variant, '.');
  for (const TorchRelease& release : knowledge.torch) {
    const auto minor = Version::parse(release.torch);
    const TorchVariant* const built = release.variant(variant);
    const bool old = !present || !minor || minor->release_at(0) < present->release_at(0) ||
                     (minor->release_at(0) == present->release_at(0) &&
                      minor->release_at(1) < present->release_at(1));
    if (!old && built != nullptr && !built->cudnn.empty()) {
      return fmt::format("pytorch/pytorch:{}.0-cuda{}-cudnn{}-devel", release.torch, cuda,
                         major_version(built->cudnn));
    }
  }
  return {};
}

// The newest CUDA whose compiler knows all that a command names, of those before the present one;
// for what came too late, the first one that does. Empty: none does.
std::string cuda_that_knows(const DeviceBuild& build, const std::string& cuda,
                            const std::vector<NotKnown>& all, const Knowledge& knowledge) {
  std::string wanted;
  if (std::ranges::all_of(all, &NotKnown::too_new)) {
    for (const NotKnown& one : all) {
      wanted = cuda_number(one.claim->value) > cuda_number(wanted) ? one.claim->value : wanted;
    }
    return wanted;
  }
  for (const CudaToolkit& toolkit : knowledge.toolkits) {
    const bool minor = std::ranges::count(toolkit.cuda, '.') == 1;  // of "12.9.1" the "12.9"
    if (minor && cuda_number(toolkit.cuda) < cuda_number(cuda) &&
        std::ranges::none_of(build.architectures, [&](const std::string& written) {
          return unknown_to(toolkit.cuda, written, knowledge).has_value();
        })) {
      wanted = toolkit.cuda;
    }
  }
  return wanted;
}

// Whether an architecture that is not known is that of a card that is there.
bool is_of_card(const NotKnown& one, const Machine& machine) {
  return std::ranges::any_of(machine.cards, [&](const Card& card) {
    std::string digits = card.compute_capability;
    std::erase(digits, '.');
    return !digits.empty() && one.name == "sm_" + digits;
  });
}

// An image whose compiler knows all that this one's does not.
void propose_other(const Diagnosis& diagnosis, const Recipe& recipe, const DeviceBuild& build,
                   const BaseImage& image, const std::string& cuda,
                   const std::vector<NotKnown>& all, Proposals& proposals) {
  const std::string wanted = cuda_that_knows(build, cuda, all, diagnosis.knowledge);
  // NVIDIA's images are of Ubuntu 24.04 from CUDA 12.6 on.
  const bool none = image.tag.contains("ubuntu24.04") && cuda_number(wanted) < cuda_number("12.6");
  const bool of_torch = image.image == "pytorch/pytorch";
  const std::string to =
      wanted.empty() || none ? ""
      : of_torch             ? torch_image_with(image, wanted, diagnosis.knowledge)
      : image.image == "nvidia/cuda"
          ? image.image + ":" + tag_with(image, cuda, cuda_of_tag(wanted, diagnosis.knowledge))
          : "";
  if (to.empty()) {
    return;  // which tags others have is not known
  }
  AlignmentEdit edit;
  edit.file = recipe.path;
  edit.line = image.line;
  edit.from = name_of(image);
  edit.to = to;
  edit.why = fmt::format("its compiler knows {}", all.front().name);
  edit.row = "base image";
  edit.literal = image.literal;
  edit.of_image = true;
  propose(diagnosis, proposals, {std::move(edit)});
}

void judge_device_build(Diagnosis& diagnosis, const RecipeColumn& column, const Recipe& recipe,
                        const DeviceBuild& build, Proposals& proposals) {
  const BaseImage* const image = image_at(recipe, build.image);
  const std::string cuda = image == nullptr ? "" : image_facts(image->image, image->tag).cuda;
  if (cuda.empty() || !image->tag.contains("devel")) {
    return;
  }
  std::vector<NotKnown> all;
  for (const std::string& written : build.architectures) {
    if (auto one = unknown_to(cuda, written, diagnosis.knowledge)) {
      all.push_back(*std::move(one));
    }
  }
  if (all.empty()) {
    return;
  }
  // Another toolkit may be installed, and its nvcc be found first.
  const bool other = std::ranges::any_of(recipe.system_packages, [](std::string_view package) {
    return package.starts_with("cuda") || package.starts_with("nvidia-cuda");
  });
  const bool verified =
      std::ranges::any_of(all, [](const NotKnown& one) { return one.claim->verified; });
  const bool certain = image->image == "nvidia/cuda" && !other && !build.doubtful && verified;
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const NotKnown& one : all) {
    texts.push_back(one.text);
  }
  Finding& finding = add_finding(
      diagnosis, "compiler does not know architecture", failing(certain), sure(certain),
      column.name,
      fmt::format("The command at line {} compiles for what nvcc of CUDA {} does not know: {}. It "
                  "stops there, and the image is not built.",
                  build.line, cuda, fmt::join(texts, ", ")));
  finding.error = fmt::format("nvcc fatal   : Unsupported gpu architecture 'compute_{}'",
                              all.front().name.substr(3));
  finding.evidence = {{build.command, place_text(recipe.path, build.line)},
                      {name_of(*image), place_text(recipe.path, image->line)}};
  for (const NotKnown& one : all) {
    finding.evidence.push_back({one.text, one.claim->source});
  }
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const NotKnown& one : all) {
    names.push_back(one.name);
  }
  const bool of_card = std::ranges::any_of(
      all, [&](const NotKnown& one) { return is_of_card(one, diagnosis.facts.machine); });
  propose_other(diagnosis, recipe, build, *image, cuda, all, proposals);
  // Without code for the card that is there the build is good for nothing.
  if (of_card) {
    return;
  }
  finding.remedies.push_back(
      {.command = {},
       .text = fmt::format("Leave {} out of the architectures at {}", fmt::join(names, " and "),
                           place_text(recipe.path, build.line)),
       .cost = fmt::format("no machine code for {}", fmt::join(names, " and "))});
}

// The Python that programs of an image start by its usual name.
struct OwnPython {
  std::string prefix;   // "/usr/local"; empty: there is none
  std::string version;  // "3.11"
};

// None: nobody knows.
std::optional<OwnPython> own_python(const BaseImage& image, const Recipe& recipe, bool last,
                                    const Knowledge& knowledge) {
  const std::string name = last_name(image.image);
  if (name == "python") {
    const auto version =
        Version::parse(image.tag.substr(0, image.tag.find_first_not_of("0123456789.")));
    return version && version->release.size() >= 2
               ? std::optional(OwnPython{"/usr/local", fmt::format("{}.{}", version->release_at(0),
                                                                   version->release_at(1))})
               : std::nullopt;
  }
  const bool plain =
      image.image == "debian" || image.image == "ubuntu" || image.image == "nvidia/cuda";
  const SystemOfImage of_image = system_of_image(name_of(image), knowledge);
  const bool other = std::ranges::any_of(recipe.system_packages, [](std::string_view package) {
    return package.starts_with("python3.") || package.contains("conda") || package == "pipx";
  });
  if (!plain || !of_image.said || !of_image.system->verified || of_image.system->python.empty() ||
      other) {
    return std::nullopt;
  }
  // Packages of a stage that is only built are not among the image's own.
  const bool installed =
      !last || std::ranges::any_of(recipe.system_packages, [](std::string_view package) {
        return package.starts_with("python3");
      });
  return installed ? OwnPython{"/usr", of_image.system->python} : OwnPython{};
}

// A virtual environment runs the interpreter that it was made with, which it names by its path.
void judge_copied_environment(Diagnosis& diagnosis, const RecipeColumn& column,
                              Proposals& proposals) {
  const Recipe* const image = column.dockerfile();
  if (image == nullptr || column.environment.empty()) {
    return;
  }
  const Recipe& recipe = *image;
  const auto step = std::ranges::find_if(recipe.steps, [&](const InstallStep& one) {
    return !one.aside && one.image != 0 && one.environment == column.environment;
  });
  const BaseImage* const last = final_image(recipe);
  const BaseImage* const first =
      step == recipe.steps.end() ? nullptr : image_at(recipe, step->image);
  if (first == nullptr || last == nullptr || first->line == last->line) {
    return;
  }
  const auto made = own_python(*first, recipe, false, diagnosis.knowledge);
  const auto there = own_python(*last, recipe, true, diagnosis.knowledge);
  if (!made || !there || (made->prefix == there->prefix && made->version == there->version)) {
    return;
  }
  const bool same_place = made->prefix == there->prefix;
  const bool certain = !step->doubtful && recipe.doubts.empty();
  Finding& finding = add_finding(
      diagnosis, "copied environment", failing(certain), sure(certain), column.name,
      same_place
          ? fmt::format("{} was made with Python {} of {}, and {}, which it is copied into, has "
                        "Python {} in its place: none of its packages is found.",
                        column.environment, made->version, name_of(*first), name_of(*last),
                        there->version)
          : fmt::format("{} was made with Python {} of {}, by links to {}/bin, and {}, which it is "
                        "copied into, has no Python there: nothing in it starts.",
                        column.environment, made->version, name_of(*first), made->prefix,
                        name_of(*last)));
  if (same_place && column.asks_for("torch")) {
    finding.error = "ModuleNotFoundError: No module named 'torch'";
  }
  finding.evidence = {{name_of(*first), place_text(recipe.path, first->line)},
                      {name_of(*last), place_text(recipe.path, last->line)}};
  if (const Note* note = diagnosis.knowledge.note("venv interpreter")) {
    finding.evidence.push_back({note->text, note->source});
  }
  if (last_name(first->image) == "python" && last_name(last->image) == "python") {
    AlignmentEdit edit = image_edit(column, name_of(*first), "the environment was made with it");
    edit.line = last->line;
    edit.literal = last->literal;
    propose(diagnosis, proposals, {std::move(edit)});
    return;
  }
  finding.remedies.push_back(
      {.command = {},
       .text = fmt::format("Begin the last stage with {} too, or make the environment in a stage "
                           "that begins with {}",
                           name_of(*first), name_of(*last)),
       .cost = {}});
}

// Packages whose setup.py imports torch (the error "No module named 'torch'"): pip builds them in
// an empty environment unless it is told not to.
constexpr std::string_view kWantsTorch = "flash-attn";

// Whether something before a command has brought torch.
bool torch_is_there(const RecipeColumn& column, const InstallStep& how) {
  const Resolved torch = resolve(column, "torch");
  return !column.image_torch.empty() ||
         (torch.by != nullptr && torch.by->how != nullptr && torch.by->how < &how);
}

void judge_built_on_torch(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Resolved asked = resolve(column, kWantsTorch);
  if (asked.by == nullptr || !asked.by->requirement->url.empty() ||
      (asked.by->recipe->kind != "requirements" && asked.by->recipe->kind != "dockerfile") ||
      may_have_own_builds(column, *asked.by->requirement, diagnosis.knowledge)) {
    return;
  }
  const InstallStep* const how = asked.by->how;
  const bool joined = how != nullptr && how->joined;
  if ((joined && torch_is_there(column, *how)) || (joined && !column.asks_for("torch"))) {
    return;
  }
  const std::string what = requirement_text(*asked.by->requirement);
  Finding& finding = add_finding(
      diagnosis, "build wants torch", Level::Warning, Certainty::Likely,
      fmt::format("{} in {}", kWantsTorch, column.name),
      joined
          ? fmt::format("{} is built with the torch that is installed, and the same command "
                        "brings that one: it is not there yet.",
                        kWantsTorch)
          : fmt::format("{} has no wheel in the Python index, and its build imports torch, which "
                        "the empty environment that installers build in does not have.",
                        kWantsTorch));
  finding.evidence.push_back(evidence_of(*asked.by));
  for (const KnownError& error : diagnosis.knowledge.errors) {
    if (std::ranges::find(error.patterns, "No module named 'torch'") != error.patterns.end()) {
      finding.evidence.push_back({error.cause, error.source});
      break;
    }
  }
  finding.error = "ModuleNotFoundError: No module named 'torch'";
  AlignmentEdit gone =
      pin_edit(column, *asked.by, asked.by->requirement->specifier, "it is built by itself");
  gone.to.clear();
  const bool image = column.is_image();
  propose(diagnosis, proposals, {std::move(gone)}, "Install it by itself, once torch is there.");
  proposals.back().more.push_back(
      {.command =
           fmt::format("{}pip install --no-build-isolation \"{}\"", image ? "RUN " : "", what),
       .text = image ? "add this line behind the one that installs torch"
                     : "behind the installation of the file"});
}

}  // namespace

void judge_recipe_builds(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  for (const Recipe* recipe : column.recipes) {
    for (const DeviceBuild& build : recipe->device_builds) {
      judge_device_build(diagnosis, column, *recipe, build, proposals);
    }
  }
  judge_copied_environment(diagnosis, column, proposals);
  judge_built_on_torch(diagnosis, column, proposals);
}

}  // namespace mynah::doctor
