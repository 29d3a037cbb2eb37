// Edits of locks: the program that made one makes it anew.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

// What edits of one lock come to.
struct Wish {
  std::vector<std::string> pins;               // "torch==2.7.0"
  std::map<std::string, std::string> markers;  // of pins
  std::string index;                           // where they come from; empty: where all does
  bool refused = false;                        // by the project
  std::vector<std::string> whys;
};

// Whether one of some pins is of the package that another pin is of.
bool pins_same(const std::vector<std::string>& pins, const std::string& other) {
  const std::string name = other.substr(0, other.find_first_of("=<>!~[ "));
  return std::ranges::any_of(pins, [&](const std::string& pin) {
    return pin.substr(0, pin.find_first_of("=<>!~[ ")) == name;
  });
}

Wish wish_of(std::span<const AlignmentEdit> edits) {
  Wish wish;
  for (const AlignmentEdit& edit : edits) {
    const bool extra = edit.to.starts_with(kExtraIndex);
    if (extra || is_address(edit.to)) {
      wish.index = edit.to.substr(extra ? kExtraIndex.size() : 0);
    } else {
      wish.pins.push_back(edit.to);
      wish.markers[edit.to] = edit.marker;
    }
    wish.refused |= edit.refused;
    if (!edit.why.empty() && std::ranges::find(wish.whys, edit.why) == wish.whys.end()) {
      wish.whys.push_back(edit.why);
    }
  }
  for (const AlignmentEdit& edit : edits) {
    std::ranges::copy_if(edit.pins, std::back_inserter(wish.pins),
                         [&](const std::string& pin) { return !pins_same(wish.pins, pin); });
  }
  return wish;
}

std::string quoted(const std::vector<std::string>& pins) {
  std::string words;
  for (const std::string& pin : pins) {
    words += fmt::format(" '{}'", pin);
  }
  return words;
}

// The same for a project that asks for them under conditions: uv puts a pin that has another one
// beside what stands there, and both hold.
std::string quoted_with_markers(const Wish& wish) {
  std::vector<std::string> pins = wish.pins;
  for (std::string& pin : pins) {
    const auto marker = wish.markers.find(pin);
    if (marker != wish.markers.end() && !marker->second.empty()) {
      pin += " ; " + marker->second;
    }
  }
  return quoted(pins);
}

// uv holds to what the project says: another index, or a version that the project refuses, is
// written into that first.
std::string uv_command(const Wish& wish) {
  if (!wish.index.empty()) {
    return fmt::format("uv add --index pytorch={}{}", wish.index, quoted_with_markers(wish));
  }
  if (wish.refused) {
    return "uv add" + quoted_with_markers(wish);
  }
  std::string command = "uv lock";
  for (const std::string& pin : wish.pins) {
    command += fmt::format(" --upgrade-package '{}'", pin);
  }
  return command;
}

std::string poetry_command(const Wish& wish) {
  return wish.index.empty() ? "poetry add" + quoted(wish.pins)
                            : fmt::format(
                                  "poetry source add --priority=explicit pytorch {} && poetry add "
                                  "--source pytorch{}",
                                  wish.index, quoted(wish.pins));
}

std::string pdm_command(const Wish& wish) {
  return wish.index.empty() ? "pdm add" + quoted(wish.pins) : std::string();
}

std::string pipenv_command(const Wish& wish) {
  return fmt::format("pipenv install{}{}",
                     wish.index.empty() ? "" : fmt::format(" --index {}", wish.index),
                     quoted(wish.pins));
}

struct Maker {
  std::string_view file;
  std::string_view name;
  std::string (*command)(const Wish&);
};

constexpr std::array<Maker, 4> kMakers = {{{"uv.lock", "uv", uv_command},
                                           {"poetry.lock", "Poetry", poetry_command},
                                           {"pdm.lock", "PDM", pdm_command},
                                           {"Pipfile.lock", "Pipenv", pipenv_command}}};

const Maker* maker_of(const std::string& file) {
  const auto* const found = std::ranges::find(kMakers, last_name(file), &Maker::file);
  return found == kMakers.end() ? nullptr : found;
}

bool is_plain(std::string_view text) {
  return text.find_first_of("'\n") == std::string_view::npos;
}

}  // namespace

std::string beside_lock(const std::string& file, const std::string& command) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (command.empty() || !is_plain(folder)) {
    return {};
  }
  return folder.empty() || folder == "." ? command : fmt::format("cd '{}' && {}", folder, command);
}

bool is_lock(const std::string& file) {
  const std::string name = last_name(file);
  return name.ends_with(".lock") || name.ends_with("lock.yml") ||
         (name.starts_with("pylock.") && name.ends_with(".toml"));
}

RemedyStep lock_step(std::span<const AlignmentEdit> edits) {
  const Wish wish = wish_of(edits);
  const std::string& file = edits.front().file;
  const Maker* const maker = maker_of(file);
  const bool plain = is_plain(wish.index) &&
                     std::ranges::all_of(wish.pins, [](const auto& pin) { return is_plain(pin); });
  RemedyStep step;
  if (maker != nullptr && plain && !wish.pins.empty()) {
    step.command = beside_lock(file, maker->command(wish));
  }
  step.text = fmt::format(
      "{} is made anew by {} with {}{}{}", place_text(file, edits.front().line),
      maker != nullptr ? std::string(maker->name) : "what made it",
      wish.pins.empty() ? "what is there" : fmt::format("{}", fmt::join(wish.pins, " and ")),
      wish.index.empty() ? "" : fmt::format(" from {}", wish.index),
      wish.whys.empty() ? "" : fmt::format(": {}", fmt::join(wish.whys, "; ")));
  return step;
}

}  // namespace mynah::doctor
