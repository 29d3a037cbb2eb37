#include "doctor/recipes/image_system.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

// "24.04" of "24.04", "12" of "12.5": a point release is of its release.
bool is_release(std::string_view version, const ImageSystem& system) {
  return !system.version.empty() &&
         (version == system.version ||
          (version.starts_with(system.version) && version[system.version.size()] == '.'));
}

// Whether one part of a tag names a system: "bookworm", "ubuntu24.04", "alpine3.20".
bool names(std::string_view part, const ImageSystem& system) {
  if (!system.codename.empty() && part == system.codename) {
    return true;
  }
  if (!part.starts_with(system.name)) {
    return false;
  }
  const std::string_view version = part.substr(system.name.size());
  return system.version.empty() ? version.empty() || is_digit(version.front())
                                : is_release(version, system);
}

std::string digits_from(std::string_view text, size_t at) {
  const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
  std::string_view digits = text.substr(at, end - at);
  while (digits.ends_with('.')) {
    digits.remove_suffix(1);
  }
  return std::string(digits);
}

}  // namespace

ImageFacts image_facts(std::string_view image, std::string_view tag) {
  ImageFacts facts;
  const std::string name = small_letters(image);
  const std::string words = small_letters(tag);
  const bool cuda_image = name == "nvidia/cuda" || name.ends_with("/nvidia/cuda") || name == "cuda";
  if (cuda_image && !words.empty() && is_digit(words.front())) {
    facts.cuda = digits_from(words, 0);
  } else if (const size_t at = words.find("cuda"); at != std::string::npos) {
    // "2.5.1-cuda12.4-cudnn9-runtime"
    const size_t digits = words.find_first_not_of("-_:", at + 4);
    facts.cuda = digits == std::string::npos ? "" : digits_from(words, digits);
  }
  if (const size_t at = words.find("cudnn"); at != std::string::npos) {
    facts.cudnn = true;
    const std::string major = digits_from(words, at + 5);
    facts.cudnn_major = major == "8" ? 8 : major == "9" ? 9 : 0;
    const auto cuda = Version::parse(facts.cuda);
    if (cuda_image && major.empty() && cuda && *cuda >= *Version::parse(kFirstCudaOfPlainCudnn)) {
      facts.cudnn_major = 9;
    }
  }
  if (name == "pytorch/pytorch" && Version::parse(facts.cuda)) {
    const Version cuda = *Version::parse(facts.cuda);
    const std::string torch = digits_from(words, 0);
    facts.torch = torch.empty()
                      ? ""
                      : fmt::format("{}+cu{}{}", torch, cuda.release_at(0), cuda.release_at(1));
  }
  facts.unnamed_torch = facts.torch.empty() && name.substr(name.rfind('/') + 1).contains("pytorch");
  if (facts.cuda.find('.') == std::string::npos) {
    facts.cuda.clear();
  }
  return facts;
}

SystemOfImage system_of_image(const std::string& image, const Knowledge& knowledge) {
  const size_t slash = image.rfind('/');
  const size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);
  const std::string whole = small_letters(image);
  const std::string name = whole.substr(0, colon);
  const std::string tag = colon == std::string::npos ? std::string() : whole.substr(colon + 1);
  const std::vector<std::string_view> parts = name_parts(tag, "-_");
  const std::string last = last_name(name);
  for (const ImageSystem& system : knowledge.systems) {
    const bool own = last == system.name && (system.version.empty() ||
                                             (!parts.empty() && is_release(parts.front(), system)));
    if (own ||
        std::ranges::any_of(parts, [&](std::string_view part) { return names(part, system); })) {
      return {.system = &system, .said = true};
    }
  }
  const auto of_python = Version::parse(tag.substr(0, tag.find_first_not_of("0123456789.")));
  const bool plain = std::ranges::none_of(parts, [](std::string_view part) {
    return !part.empty() && !is_digit(part.front()) && part != "slim";
  });
  const bool official = name == "python" || name == "library/python" ||
                        name == "docker.io/python" || name == "docker.io/library/python";
  // Images of older Pythons, and those of one release ("3.11.4"), are made no more at some time,
  // and stay what they were.
  if (official && plain && of_python && of_python->release.size() == 2 &&
      *of_python >= *Version::parse("3.10")) {
    const auto found = std::ranges::find(knowledge.systems, "trixie", &ImageSystem::codename);
    if (found != knowledge.systems.end()) {
      return {.system = &*found, .said = false};
    }
  }
  return {};
}

std::string python_of_commands(const RecipeColumn& column) {
  const Recipe* const image = column.dockerfile();
  std::string named;
  for (const InstallStep& step : image == nullptr ? std::span<const InstallStep>() : image->steps) {
    if (step.aside || step.environment != column.environment) {
      continue;
    }
    if (step.python.empty() || (!named.empty() && step.python != named)) {
      return {};
    }
    named = step.python;
  }
  return named;
}

std::string python_of_system(const RecipeColumn& column, const Knowledge& knowledge) {
  const Recipe* const image = column.dockerfile();
  const std::string name = column.image.substr(0, column.image.rfind(':'));
  const bool plain = name == "debian" || name == "ubuntu" || name == "nvidia/cuda";
  const SystemOfImage of_image = system_of_image(column.image, knowledge);
  if (image == nullptr || !plain || !of_image.said || !of_image.system->verified ||
      !column.environment.empty()) {
    return {};
  }
  bool own = false;
  const std::string whole = "python" + of_image.system->python;
  for (const std::string& package : image->system_packages) {
    const bool this_one = package == whole || package.starts_with(whole + "-");
    if ((package.starts_with("python3.") && !this_one) || package.starts_with("pypy") ||
        package.contains("conda") || package == "pyenv") {
      return {};
    }
    own |= this_one || package == "python3" || package.starts_with("python3-");
  }
  // Another that lies before it on PATH.
  const auto path = image->variables.find("PATH");
  constexpr std::string_view kOthers[] = {"env", "conda", "mamba", "python", "local/bin", "uv"};
  const bool elsewhere =
      path != image->variables.end() && std::ranges::any_of(kOthers, [&](std::string_view word) {
        return path->second.contains(word);
      });
  return own && !elsewhere ? of_image.system->python : std::string();
}

std::vector<std::string_view> name_parts(std::string_view name, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of(separators), name.size());
    parts.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

}  // namespace mynah::doctor
