#include "doctor/plans/compare_steps.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

// PyTorch's index for a version with a local part; empty: the Python index.
std::string index_of(std::string_view name, std::string_view version) {
  const auto parsed = Version::parse(version);
  const bool torch = name == "torch" || name == "torchaudio" || name == "torchvision";
  if (!torch || !parsed || parsed->local.empty()) {
    return {};
  }
  return torch_index(parsed->local_text());
}

// "onnxruntime-gpu[cuda,cudnn]": a package with what the second asks for with it.
std::string with_extras(const std::string& name, const PinnedSide& wanted) {
  const auto found = wanted.extras.find(name);
  return found == wanted.extras.end() ? name
                                      : fmt::format("{}[{}]", name, fmt::join(found->second, ","));
}

// "pip install", with the pins and all indexes that have them.
std::string install_command(const Pins& pins, std::string_view options, const PinnedSide& wanted,
                            const std::vector<std::string>& open = {}) {
  std::vector<std::string> words;
  std::set<std::string> indexes;
  for (const auto& [name, version] : pins) {
    // A shell takes brackets for a pattern.
    const std::string word = fmt::format("{}=={}", with_extras(name, wanted), version);
    words.push_back(wanted.extras.contains(name) ? fmt::format("'{}'", word) : word);
    if (std::string index = index_of(name, version); !index.empty()) {
      indexes.insert(std::move(index));
    }
  }
  for (const std::string& requirement : open) {
    words.push_back(fmt::format("'{}'", requirement));
  }
  std::string command = fmt::format("pip install{} {}", options, fmt::join(words, " "));
  for (const std::string& index : indexes) {
    command += " --extra-index-url " + index;
  }
  return command;
}

// "nvidia-cudnn" of "nvidia-cudnn-cu12".
std::string_view without_cuda(std::string_view wheel) {
  constexpr size_t kSuffix = std::string_view("-cu12").size();
  return wheel.size() > kSuffix && wheel.substr(wheel.size() - kSuffix).starts_with("-cu")
             ? wheel.substr(0, wheel.size() - kSuffix)
             : wheel;
}

// Whether two packages write the same files, so that uninstalling one takes some of the other's.
bool share_files(std::string_view one, std::string_view other, const Knowledge& knowledge) {
  if (std::ranges::any_of(knowledge.clashes, [&](const Clash& clash) {
        return (clash.first == one && clash.second == other) ||
               (clash.first == other && clash.second == one);
      })) {
    return true;
  }
  if (one == other || without_cuda(one) != without_cuda(other)) {
    return false;
  }
  const auto folder_of = [&](std::string_view wheel) {
    const auto found = std::ranges::find(knowledge.libraries, wheel, &Library::wheel);
    return found == knowledge.libraries.end() ? std::string_view()
                                              : std::string_view(found->folder);
  };
  return !folder_of(one).empty() && folder_of(one) == folder_of(other);
}

// What differs, and how to come there within one environment.
struct Difference {
  Pins installed;                       // new or of another version
  Pins again;                           // of the same version, whose files go with another's
  std::vector<std::string> in_the_way;  // to be uninstalled before
  std::vector<std::string> left_over;   // that the second has not
};

// Whether the second asks for an extra of a package that the first does not ask for: that brings
// other packages, or it is there already and pip does nothing.
bool adds_extras(const PinnedSide& first, const PinnedSide& wanted, const std::string& name) {
  const auto asked = wanted.extras.find(name);
  const auto before = first.extras.find(name);
  return !wanted.whole && asked != wanted.extras.end() &&
         (before == first.extras.end() || !std::ranges::includes(before->second, asked->second));
}

Difference difference(const PinnedSide& before_all, const PinnedSide& wanted,
                      const Knowledge& knowledge) {
  const Pins& first = before_all.pins;
  const Pins& second = wanted.pins;
  const auto& open = wanted.open;
  Difference found;
  for (const auto& [name, version] : second) {
    if (const auto before = first.find(name); before == first.end() || before->second != version ||
                                              adds_extras(before_all, wanted, name)) {
      found.installed.emplace(name, version);
    }
  }
  for (const auto& [name, version] : first) {
    if (second.contains(name) || open.contains(name)) {
      continue;
    }
    bool shared = false;
    for (const auto& [other, pinned] : second) {
      if (share_files(name, other, knowledge)) {
        shared = true;
        if (!found.installed.contains(other)) {
          found.again.emplace(other, pinned);
        }
      }
    }
    (shared ? found.in_the_way : found.left_over).push_back(name);
  }
  return found;
}

// A path as one word of a shell.
std::string in_shell(const std::string& path) {
  std::string word = "'";
  for (const char c : path) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + "'";
}

Remedy uninstall(const std::vector<std::string>& names, std::string text) {
  return {.command = fmt::format("pip uninstall --yes {}", fmt::join(names, " ")),
          .text = std::move(text),
          .cost = {}};
}

}  // namespace

std::vector<Remedy> steps_between(const PinnedSide& first, const PinnedSide& second,
                                  std::vector<Remedy> driver, const Knowledge& knowledge) {
  std::vector<Remedy> steps = std::move(driver);
  if (!second.conda.empty()) {
    const bool same = first.pins == second.pins && !first.conda.empty() && steps.empty();
    if (!same) {
      steps.push_back(
          {.command = fmt::format("conda env create --name NEW --file {}", in_shell(second.conda)),
           .text = "make what the second's file names beside the first, which stays as it is",
           .cost = "all packages are installed anew"});
      steps.push_back({.command = "conda activate NEW && pip check && mynah doctor",
                       .text = "look at what came of it",
                       .cost = {}});
    }
    return steps;
  }
  const bool other_python =
      !second.python.empty() && !first.python.empty() && first.python != second.python;
  const bool anew = other_python || !first.conda.empty();
  if (anew) {
    steps.push_back(
        {.command = fmt::format("python{} -m venv NEW && . NEW/bin/activate",
                                second.python.empty() && !other_python ? "3" : second.python),
         .text = other_python
                     ? fmt::format("make an environment of Python {} beside the old one, "
                                   "which keeps the Python that it was made with",
                                   second.python)
                     : "make an environment beside conda's, whose packages pip does not replace",
         .cost = "all packages are installed anew"});
  }
  const Difference found = difference(anew ? PinnedSide() : first, second, knowledge);
  if (!found.in_the_way.empty()) {
    steps.push_back(uninstall(found.in_the_way,
                              "remove what would take files of the second's packages with it"));
  }
  const std::string_view alone = second.whole ? " --no-deps" : "";
  std::vector<std::string> open;
  for (const auto& [name, range] : second.open) {
    const auto before = anew ? first.pins.end() : first.pins.find(name);
    if (before != first.pins.end()) {
      if (const auto version = Version::parse(before->second);
          version && range.contains(*version) && !adds_extras(first, second, name)) {
        continue;
      }
    }
    open.push_back(with_extras(name, second) + range.text());
  }
  if (!found.installed.empty() || !open.empty()) {
    steps.push_back(
        {.command = install_command(found.installed, alone, second, open),
         .text = second.whole
                     ? "install exactly what the second has; all of it is fetched before anything "
                       "is replaced"
                     : "install what the second pins, and with it what that asks for, such as "
                       "NVIDIA's libraries; all of it is fetched before anything is replaced",
         .cost = {}});
  }
  if (!found.again.empty()) {
    steps.push_back(
        {.command = install_command(found.again, " --force-reinstall --no-deps", second),
         .text = "bring back the files that went with what was removed",
         .cost = {}});
  }
  if (!found.left_over.empty() && second.whole) {
    steps.push_back(uninstall(found.left_over, "remove what the second has not"));
  } else if (!found.left_over.empty() && !first.whole) {
    steps.push_back({.command = {},
                     .text = fmt::format("{} may stay: the second does not name {}, and what it "
                                         "names may ask for {}",
                                         fmt::join(found.left_over, ", "),
                                         found.left_over.size() == 1 ? "it" : "them",
                                         found.left_over.size() == 1 ? "it" : "them"),
                     .cost = {}});
  }
  const bool nothing = steps.empty() || (steps.size() == 1 && steps.front().command.empty());
  if (!nothing) {
    steps.push_back(
        {.command = "pip check && mynah doctor", .text = "look at what came of it", .cost = {}});
  }
  return steps;
}

}  // namespace mynah::doctor
