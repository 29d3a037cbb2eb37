// The search behind stack_plan.h: one candidate for each package, so that all go together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/plans/stack_candidates.h"
#include "doctor/plans/stack_plan.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

// How good a set must be.
enum class StackGrade : uint8_t {
  Best,      // machine code for every card, all of it verified
  Works,     // machine code for every card
  Computes,  // on the card, be it by PTX that the driver compiles at first use
};

// A set that was found.
struct StackSet {
  std::vector<StackCandidate> chosen;
  std::string python;                     // the newest that all take
  std::vector<StackCandidate> libraries;  // NVIDIA's wheels that nothing of `chosen` brings
  std::vector<FrameworkVerdict> verdicts;
};

class StackSearch {
 public:
  StackSearch(const StackWish& wish, const Knowledge& knowledge);

  // The first package of which nothing is known; empty: all are.
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

  // The set of the newest versions of this grade.
  [[nodiscard]] std::optional<StackSet> find(StackGrade grade);

  // For each package why none of its releases could be taken, of the last find(): what they lack by
  // themselves where none would do alone, else what of them does not go with the others.
  [[nodiscard]] std::vector<std::string> reasons() const;

 private:
  struct Choice {
    StackCandidate candidate;
    std::optional<Framework> framework;
    std::vector<Judged> judged;  // on each card, by itself
  };

  struct Slot {
    std::string name;
    SpecifierSet wanted;
    bool explicit_ = false;  // the user named it; else only if something chosen needs it
    std::vector<Choice> choices;
    // Why the newest could not be taken: none fits the words, it would not do by itself, or it does
    // not go with the others.
    std::string unfit;
    std::string lack;
    std::string conflict;
    std::optional<Requirement> asked;  // of `conflict`: what the release asks for
    bool would_do = false;             // one of them, by itself
    bool taken = false;                // one of them went with what was chosen before
  };

  // Why a release would not do by itself.
  [[nodiscard]] static std::string why_not(const Choice& choice);
  // What a release asks for of one that is chosen and another; null: of none.
  [[nodiscard]] const Requirement* unmet_need(const StackCandidate& candidate) const;
  // Why nothing that is asked for so could be taken; empty: it could, by itself.
  [[nodiscard]] std::string why_none(const Requirement& asked) const;
  void add_slots();
  void judge(Slot& slot) const;
  // Whether a plan has to have this package: it is wanted, something chosen asks for it, or all
  // releases of something that comes later do.
  [[nodiscard]] bool is_needed(size_t index) const;
  [[nodiscard]] bool asks_for(const StackCandidate& candidate, std::string_view name) const;
  // What to say where no release of a package is as the user wants it.
  [[nodiscard]] std::string none_fits(const Slot& slot) const;
  [[nodiscard]] bool grade_allows(const Choice& choice, StackGrade grade) const;
  // Why the candidate does not go with what is chosen; empty: it does.
  [[nodiscard]] std::string conflict(const StackCandidate& candidate) const;
  [[nodiscard]] std::string clash(const StackCandidate& one, const StackCandidate& other) const;
  [[nodiscard]] std::vector<std::string> pythons_with(const StackCandidate* candidate) const;
  [[nodiscard]] bool fill(size_t slot, StackGrade grade);
  [[nodiscard]] bool settle(StackGrade grade);
  [[nodiscard]] bool settle_with(const std::vector<StackCandidate>& libraries, StackGrade grade);
  [[nodiscard]] std::vector<std::vector<StackCandidate>> library_sets() const;

  const StackWish& wish_;
  const Knowledge& knowledge_;
  std::vector<std::pair<Requirement, Requirement>> clashes_;  // with their words in the same order
  std::vector<Slot> slots_;
  std::vector<const Choice*> chosen_;
  std::optional<StackSet> found_;
  std::string unknown_;
};

}  // namespace mynah::doctor
