// Exact versions that work together on a card: `mynah doctor plan`. Every set is judged by the
// rules that judge installed files (verdict.h) before it is named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// What is to work, and where.
struct StackWish {
  Machine machine;                  // its cards, driver and system
  std::string python;               // "3.11"; empty: whichever serves
  std::vector<Requirement> wanted;  // "torch", "faster-whisper>=1.1"
};

// A package of a plan.
struct PinnedPackage {
  std::string name;
  std::string extras;   // "cuda,cudnn"; empty: none
  std::string version;  // "2.7.1+cu128"
  std::string index;    // its URL; empty: the Python index
  std::string reason;   // why this version: a clause
  // What it asks for must not come with it: it is installed by itself, behind the others.
  bool alone = false;

  bool operator==(const PinnedPackage&) const = default;
};

struct StackPlan {
  std::string python;  // "3.12"
  std::vector<PinnedPackage> packages;
  std::vector<FrameworkVerdict> verdicts;    // each framework on each card
  std::vector<std::string> library_folders;  // below site-packages, for LD_LIBRARY_PATH
  std::vector<std::string> system_packages;  // of Debian's: "ffmpeg"
  std::vector<std::string> notes;
};

// The smallest change under which there is a plan.
struct StackChange {
  std::string text;  // "a driver of branch 570 or later, instead of 535.104"
  StackPlan plan;    // then
};

struct StackAnswer {
  std::optional<StackPlan> plan;
  bool clash = false;  // there is none, and of fewer of the wanted packages there would be
  // Where there is none: which of the wanted ones do not go together, or with card, driver and
  // Python, and why; and what would make one, the smallest change first, which may be nothing.
  std::vector<std::string> reasons;
  std::vector<StackChange> changes;
};

// Python's versions that a plan may be for, the newest first: "3.12".
[[nodiscard]] std::span<const std::string_view> planned_pythons();

// Looks for the newest versions, the first wanted package before the second: sets of which all is
// verified and runs machine code of the card first. Fails where a package is asked for of which the
// knowledge base has no releases, or a requirement that is none.
[[nodiscard]] Result<StackAnswer> plan_stack(const StackWish& wish, const Knowledge& knowledge);

// A requirements file, each line with its reason. What is to be installed alone is a line for a
// shell in a comment at its end.
[[nodiscard]] std::string requirements_text(const StackPlan& plan);

// Lines of a Dockerfile: the wheels bring CUDA, so its base image has none.
[[nodiscard]] std::string dockerfile_text(const StackPlan& plan);

}  // namespace mynah::doctor
