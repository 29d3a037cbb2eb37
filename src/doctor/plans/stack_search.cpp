#include "doctor/plans/stack_search.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "doctor/plans/stack_libraries.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// Python's versions of which any package here has wheels.
constexpr std::array<std::string_view, 8> kPythons = {"3.15", "3.14", "3.13", "3.12",
                                                      "3.11", "3.10", "3.9",  "3.8"};

// A plan chooses in this order: what demands most of the others first, then what they compute by.
constexpr std::array<std::string_view, 7> kLast = {
    "torch",           "torchaudio",  "torchvision",     "torchcodec",
    "onnxruntime-gpu", "ctranslate2", "llama-cpp-python"};

size_t place(std::string_view name) {
  const auto* const found = std::ranges::find(kLast, name);
  return found == kLast.end() ? 0 : 1 + static_cast<size_t>(found - kLast.begin());
}

bool allows(const SpecifierSet& specifiers, const Version& version) {
  return specifiers.clauses.empty() || specifiers.contains(version);
}

bool names(const Requirement& requirement, const StackCandidate& candidate) {
  if (requirement.name != candidate.name) {
    return false;
  }
  const auto specifiers = SpecifierSet::parse(requirement.specifier);
  return specifiers && allows(*specifiers, candidate.version);
}

// Packages first: their ranges are read where both are meant.
bool name_both(const Requirement& first, const StackCandidate& one, const Requirement& second,
               const StackCandidate& other) {
  return first.name == one.name && second.name == other.name && names(first, one) &&
         names(second, other);
}

bool holds(const Requirement& need, System system) {
  if (need.marker.empty()) {
    return true;
  }
  const auto marker = Marker::parse(need.marker);
  return !marker || marker->holds({.system = system, .python = {}, .extras = {}}) != Truth::No;
}

std::string title(const StackCandidate& candidate) {
  return fmt::format("{} {}", candidate.name, candidate.version.text());
}

// What `one` asks for that `other` is not; null: nothing.
const Requirement* unmet_need_of(const StackCandidate& one, const StackCandidate& other,
                                 System system) {
  for (const Requirement& need : one.needs) {
    if (need.name == other.name && holds(need, system) && !names(need, other)) {
      return &need;
    }
  }
  return nullptr;
}

// Why `one` does not take `other`; empty: it does.
std::string unmet(const StackCandidate& one, const StackCandidate& other, System system) {
  const Requirement* const need = unmet_need_of(one, other, system);
  return need == nullptr ? std::string()
                         : fmt::format("{} asks for {}", title(one), requirement_text(*need));
}

}  // namespace

std::span<const std::string_view> planned_pythons() {
  return kPythons;
}

StackSearch::StackSearch(const StackWish& wish, const Knowledge& knowledge)
    : wish_(wish), knowledge_(knowledge) {
  for (const Clash& clash : knowledge.clashes) {
    auto first = parse_requirement(clash.first);
    auto second = parse_requirement(clash.second);
    if (first && second) {
      clashes_.emplace_back(*std::move(first), *std::move(second));
    }
  }
  add_slots();
}

void StackSearch::add_slots() {
  std::set<std::string> tried;
  const auto add = [&](const std::string& name) -> Slot* {
    if (!tried.insert(name).second) {
      return nullptr;
    }
    Slot slot{.name = name,
              .wanted = {},
              .choices = {},
              .unfit = {},
              .lack = {},
              .conflict = {},
              .asked = {}};
    for (StackCandidate& candidate : stack_candidates(name, knowledge_)) {
      slot.choices.push_back({.candidate = std::move(candidate), .framework = {}, .judged = {}});
    }
    return &slots_.emplace_back(std::move(slot));
  };
  for (const Requirement& wanted : wish_.wanted) {
    Slot* const slot = add(wanted.name);
    if (slot == nullptr) {
      continue;
    }
    slot->explicit_ = true;
    if (auto specifiers = SpecifierSet::parse(wanted.specifier)) {
      slot->wanted = *std::move(specifiers);
    }
    if (slot->choices.empty() && unknown_.empty()) {
      unknown_ = slot->name;
    }
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::vector<std::string> needed;
    for (const Choice& choice : slots_[i].choices) {
      for (const Requirement& need : choice.candidate.needs) {
        needed.push_back(need.name);
      }
    }
    judge(slots_[i]);
    for (const std::string& name : needed) {
      // What the knowledge base has no releases of is left to the installer.
      if (const Slot* slot = add(name); slot != nullptr && slot->choices.empty()) {
        slots_.pop_back();
      }
    }
  }
  std::ranges::stable_sort(slots_, {}, [](const Slot& slot) { return place(slot.name); });
}

void StackSearch::judge(Slot& slot) const {
  for (Choice& choice : slot.choices) {
    if (!choice.candidate.framework) {
      continue;
    }
    choice.framework =
        known_framework(slot.name, choice.candidate.version, wish_.machine.system, knowledge_);
    for (const Card& card : wish_.machine.cards) {
      if (choice.framework) {
        choice.judged.push_back(
            judge_framework(*choice.framework, &card, wish_.machine, knowledge_));
      }
    }
  }
}

std::string StackSearch::why_not(const Choice& choice) {
  for (const Judged& judged : choice.judged) {
    if (!computes_on_card(judged)) {
      return judged.verdict.reason;
    }
  }
  return choice.judged.empty() ? "nothing is known of its device code"
                               : choice.judged.front().verdict.reason;
}

const Requirement* StackSearch::unmet_need(const StackCandidate& candidate) const {
  for (const Choice* choice : chosen_) {
    if (const Requirement* const need =
            unmet_need_of(candidate, choice->candidate, wish_.machine.system)) {
      return need;
    }
  }
  return nullptr;
}

std::string StackSearch::why_none(const Requirement& asked) const {
  const auto slot = std::ranges::find(slots_, asked.name, &Slot::name);
  if (slot == slots_.end()) {
    return {};
  }
  for (const Choice& choice : slot->choices) {
    if (names(asked, choice.candidate)) {
      return grade_allows(choice, StackGrade::Computes)
                 ? std::string()
                 : fmt::format("{}: {}", title(choice.candidate), why_not(choice));
    }
  }
  return {};
}

bool StackSearch::asks_for(const StackCandidate& candidate, std::string_view name) const {
  return std::ranges::any_of(candidate.needs, [&](const Requirement& need) {
    return need.name == name && holds(need, wish_.machine.system);
  });
}

bool StackSearch::is_needed(size_t index) const {
  const std::string& name = slots_[index].name;
  const bool wanted =
      slots_[index].explicit_ || std::ranges::any_of(chosen_, [&](const Choice* choice) {
        return asks_for(choice->candidate, name);
      });
  if (wanted) {
    return true;
  }
  for (size_t later = index + 1; later < slots_.size(); ++later) {
    const bool all_ask = !slots_[later].choices.empty() &&
                         std::ranges::all_of(slots_[later].choices, [&](const Choice& choice) {
                           return asks_for(choice.candidate, name);
                         });
    if (all_ask && is_needed(later)) {
      return true;
    }
  }
  return false;
}

std::string StackSearch::none_fits(const Slot& slot) const {
  const PackageReleases* const listed = knowledge_.releases_of(slot.name);
  const std::vector<Version> none;
  const std::vector<Version>& releases = listed == nullptr ? none : listed->releases;
  const auto released = std::ranges::find_if(
      releases, [&](const Version& version) { return allows(slot.wanted, version); });
  const std::string known = fmt::format("{} to {}", slot.choices.back().candidate.version.text(),
                                        slot.choices.front().candidate.version.text());
  return released == releases.end()
             ? fmt::format("{}: no release that is known is as wanted; known are {}", slot.name,
                           known)
             : fmt::format(
                   "{} {}: what it asks for and holds is not known; known is that of some "
                   "of {}",
                   slot.name, released->text(), known);
}

bool StackSearch::grade_allows(const Choice& choice, StackGrade grade) const {
  if (!choice.candidate.framework) {
    return grade != StackGrade::Best || choice.candidate.certain;
  }
  if (!choice.framework || choice.judged.empty()) {
    return false;
  }
  return std::ranges::all_of(choice.judged, [&](const Judged& judged) {
    if (grade == StackGrade::Computes) {
      return computes_on_card(judged);
    }
    // What alone it lacks of libraries comes with the set.
    return (has_machine_code(judged) || judged.cause == Cause::LibraryMissing) &&
           (grade == StackGrade::Works ||
            (choice.candidate.certain && judged.certainty == Certainty::Certain));
  });
}

std::string StackSearch::clash(const StackCandidate& one, const StackCandidate& other) const {
  for (const auto& [first, second] : clashes_) {
    if (name_both(first, one, second, other) || name_both(first, other, second, one)) {
      return fmt::format("{} and {} cannot stand together", requirement_text(first),
                         requirement_text(second));
    }
  }
  return {};
}

std::string StackSearch::conflict(const StackCandidate& candidate) const {
  for (const Choice* choice : chosen_) {
    const StackCandidate& other = choice->candidate;
    for (std::string reason :
         {unmet(candidate, other, wish_.machine.system),
          unmet(other, candidate, wish_.machine.system), clash(candidate, other)}) {
      if (!reason.empty()) {
        return reason;
      }
    }
    if (candidate.cudnn_major == 0 || other.cudnn_major == 0) {
      continue;
    }
    if (candidate.cudnn_major != other.cudnn_major) {
      return fmt::format("{} is for cuDNN {}, {} for cuDNN {}", title(candidate),
                         candidate.cudnn_major, title(other), other.cudnn_major);
    }
    if (candidate.cuda_major != other.cuda_major) {
      return fmt::format(
          "{} is for CUDA {}, {} for CUDA {}, and the wheels of cuDNN for both write the same "
          "files",
          title(candidate), candidate.cuda_major, title(other), other.cuda_major);
    }
  }
  if (pythons_with(&candidate).empty()) {
    const std::string& python = wish_.python;
    const std::vector<std::string>& without = candidate.no_pythons;
    if (std::ranges::find(without, python) != without.end()) {
      return fmt::format("{} asks for a package that has no wheels for Python {}", title(candidate),
                         python);
    }
    if (candidate.asks_for_python) {
      return fmt::format(
          "{} asks for Python {}, {}", title(candidate), candidate.python.text(),
          python.empty() ? "and the others for another" : fmt::format("which {} is not", python));
    }
    return fmt::format("{} has no wheels for {}", title(candidate),
                       python.empty() ? "a Python that the others take" : "Python " + python);
  }
  return {};
}

std::vector<std::string> StackSearch::pythons_with(const StackCandidate* candidate) const {
  std::vector<std::string> found;
  for (const std::string_view python : kPythons) {
    if (!wish_.python.empty() && wish_.python != python) {
      continue;
    }
    const auto version = Version::parse(fmt::format("{}.5", python));
    const auto takes = [&](const StackCandidate& each) {
      return allows(each.python, *version) &&
             std::ranges::find(each.no_pythons, python) == each.no_pythons.end();
    };
    const bool taken = version && (candidate == nullptr || takes(*candidate)) &&
                       std::ranges::all_of(
                           chosen_, [&](const Choice* choice) { return takes(choice->candidate); });
    if (taken) {
      found.emplace_back(python);
    }
  }
  return found;
}

bool StackSearch::fill(size_t index, StackGrade grade) {
  if (index == slots_.size()) {
    return settle(grade);
  }
  Slot& slot = slots_[index];
  if (!is_needed(index)) {
    return fill(index + 1, grade);
  }
  bool fits = false;
  for (const Choice& choice : slot.choices) {
    if (!allows(slot.wanted, choice.candidate.version)) {
      continue;
    }
    fits = true;
    if (!grade_allows(choice, grade)) {
      if (slot.lack.empty()) {
        slot.lack = fmt::format("{}: {}", title(choice.candidate), why_not(choice));
      }
      continue;
    }
    slot.would_do = true;
    if (std::string reason = conflict(choice.candidate); !reason.empty()) {
      if (slot.conflict.empty()) {
        slot.conflict = std::move(reason);
        if (const Requirement* const need = unmet_need(choice.candidate)) {
          slot.asked = *need;
        }
      }
      continue;
    }
    slot.taken = true;
    chosen_.push_back(&choice);
    const bool filled = fill(index + 1, grade);
    chosen_.pop_back();
    if (filled) {
      return true;
    }
  }
  if (!fits && slot.unfit.empty() && !slot.choices.empty()) {
    slot.unfit = none_fits(slot);
  }
  return false;
}

bool StackSearch::settle(StackGrade grade) {
  return std::ranges::any_of(library_sets(), [&](const std::vector<StackCandidate>& libraries) {
    return settle_with(libraries, grade);
  });
}

bool StackSearch::settle_with(const std::vector<StackCandidate>& libraries, StackGrade grade) {
  StackSet set{.chosen = {},
               .python = pythons_with(nullptr).front(),
               .libraries = libraries,
               .verdicts = {}};
  PythonEnvironment environment{.path = {},
                                .kind = "folder",
                                .python = set.python,
                                .system = wish_.machine.system,
                                .packages = {},
                                .shared_paths = {},
                                .frameworks = {}};
  const auto add = [&](const std::string& name, const std::string& version) {
    install(environment, name, version, knowledge_);
  };
  for (const Choice* choice : chosen_) {
    const StackCandidate& candidate = choice->candidate;
    set.chosen.push_back(candidate);
    add(candidate.name, candidate.version.text());
    if (candidate.name == "torch" && candidate.cuda_major > 0) {
      add(cudnn_wheel(candidate.cuda_major), candidate.cudnn);
      add(cublas_wheel(candidate.cuda_major), fmt::format("{}", candidate.cuda_major));
    }
  }
  for (const StackCandidate& library : libraries) {
    add(library.name, library.version.text());
  }
  for (const Choice* choice : chosen_) {
    if (!choice->framework) {
      continue;
    }
    for (const Card& card : wish_.machine.cards) {
      const Judged judged =
          judge_framework(*choice->framework, &card, wish_.machine, knowledge_, &environment);
      const bool good =
          grade == StackGrade::Computes ? computes_on_card(judged) : has_machine_code(judged);
      if (!good) {
        for (Slot& slot : slots_) {
          if (slot.name == choice->candidate.name && slot.conflict.empty()) {
            slot.conflict = fmt::format("{}: {}", title(choice->candidate), judged.verdict.reason);
          }
        }
        return false;
      }
      set.verdicts.push_back(judged.verdict);
    }
  }
  found_ = std::move(set);
  return true;
}

std::optional<StackSet> StackSearch::find(StackGrade grade) {
  found_.reset();
  for (Slot& slot : slots_) {
    slot.unfit.clear();
    slot.lack.clear();
    slot.conflict.clear();
    slot.asked.reset();
    slot.would_do = false;
    slot.taken = false;
  }
  if (!unknown_.empty() || wish_.machine.cards.empty() || !fill(0, grade)) {
    return std::nullopt;
  }
  return found_;
}

std::vector<std::string> StackSearch::reasons() const {
  std::vector<std::string> found;
  // The one of which none could ever be taken is what it failed at.
  const bool blocked = std::ranges::any_of(slots_, [](const Slot& slot) {
    return !slot.taken && (slot.would_do || !slot.unfit.empty());
  });
  for (const Slot& slot : slots_) {
    if (blocked && slot.taken) {
      continue;
    }
    // Of releases that would do by themselves it is the others that keep them out.
    const std::string& reason = !slot.unfit.empty() ? slot.unfit
                                : slot.would_do     ? slot.conflict
                                                    : slot.lack;
    const bool conflict = slot.unfit.empty() && slot.would_do && slot.asked;
    for (const std::string& line : {reason, conflict ? why_none(*slot.asked) : std::string()}) {
      if (!line.empty() && std::ranges::count(found, line) == 0) {
        found.push_back(line);
      }
    }
  }
  return found;
}

}  // namespace mynah::doctor
