// Which remedies are said, of those that findings propose.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_trial.h"

namespace mynah::doctor {

namespace {

// One that mends its finding.
struct Tried {
  const Proposal* proposal = nullptr;
  RecipeTrial trial;
  std::ptrdiff_t failures = 0;  // that it leaves
  bool dropped = false;
};

std::vector<AlignmentEdit> both(const std::vector<AlignmentEdit>& a,
                                const std::vector<AlignmentEdit>& b) {
  std::vector<AlignmentEdit> edits = a;
  for (const AlignmentEdit& edit : b) {
    if (std::ranges::find(edits, edit) == edits.end()) {
      edits.push_back(edit);
    }
  }
  return edits;
}

// Whether two sets of edits want different things of one line.
bool differ_in_a_line(const std::vector<AlignmentEdit>& a, const std::vector<AlignmentEdit>& b) {
  return std::ranges::any_of(a, [&](const AlignmentEdit& one) {
    return std::ranges::any_of(b, [&](const AlignmentEdit& other) {
      return one.line != 0 && one.line == other.line && one.file == other.file &&
             one.from == other.from && one.to != other.to;
    });
  });
}

// The one that is to be said of two that do not go together.
bool is_better(const Tried& a, const Tried& b, const Report& report) {
  const bool mends_other = a.trial.mends(report.findings[b.proposal->finding]);
  const bool is_mended = b.trial.mends(report.findings[a.proposal->finding]);
  if (mends_other != is_mended) {
    return mends_other;
  }
  return a.failures != b.failures ? a.failures < b.failures : a.proposal < b.proposal;
}

class Chooser {
 public:
  Chooser(const Report& report, const ProposalPlace& place, RecipeTrials& trials)
      : report_(report), place_(place), trials_(trials) {}

  std::vector<Tried> choose(const Proposals& proposals) {
    bool taken = false;  // the one before, which this one stands in for
    for (const Proposal& proposal : proposals) {
      if (std::exchange(taken, false)) {
        continue;
      }
      auto trial = trials_.run(std::span(&place_.column, 1), proposal.edits);
      if (trial && (trial->brings.empty() || proposal.instead_of) &&
          !(proposal.or_next && trial->fails) && trial->mends(report_.findings[proposal.finding])) {
        taken = proposal.or_next;
        Tried& tried = tried_.emplace_back();
        tried.proposal = &proposal;
        tried.failures = failures_of(*trial);
        tried.trial = std::move(*trial);
      }
    }
    constexpr size_t kMostCompared = 30;
    const std::span<Tried> compared(tried_.data(), std::min(tried_.size(), kMostCompared));
    drop_ends(compared);
    for (Tried& a : compared) {
      for (Tried& b : compared) {
        if (!a.dropped && !b.dropped && a.proposal != b.proposal) {
          compare(a, b);
        }
      }
    }
    drop_for_agreement();
    return std::move(tried_);
  }

 private:
  static std::ptrdiff_t failures_of(const RecipeTrial& trial) {
    return std::ranges::count_if(trial.left,
                                 [](const auto& left) { return left.second == Level::Fail; });
  }

  void compare(const Tried& a, Tried& b) {
    if (a.proposal->finding == b.proposal->finding) {
      // Installations are alternatives, which say what they cost. Of others the smallest are.
      b.dropped = !b.proposal->instead_of && std::pair(a.failures, a.proposal->edits.size()) <
                                                 std::pair(b.failures, b.proposal->edits.size());
    } else if (!joint(a, b).go_together && is_better(a, b, report_)) {
      b.dropped = true;
    }
  }

  // Two of different findings, tried as one.
  struct Joint {
    bool go_together = false;
    std::ptrdiff_t failures = 0;  // that they leave
  };

  Joint joint(const Tried& a, const Tried& b) {
    if (differ_in_a_line(a.proposal->edits, b.proposal->edits)) {
      return {};
    }
    const auto [known, is_new] = joints_.try_emplace(std::minmax(a.proposal, b.proposal));
    if (is_new) {
      const auto trial =
          trials_.run(std::span(&place_.column, 1), both(a.proposal->edits, b.proposal->edits));
      known->second.go_together =
          !trial || (trial->brings.size() <= a.trial.brings.size() + b.trial.brings.size() &&
                     trial->mends(report_.findings[a.proposal->finding]) &&
                     trial->mends(report_.findings[b.proposal->finding]));
      known->second.failures = trial ? failures_of(*trial) : std::min(a.failures, b.failures);
    }
    return known->second;
  }

  // How few failures are left by one and what mends another finding beside it.
  std::ptrdiff_t least_failures(const Tried& one, std::span<const Tried> all) {
    std::ptrdiff_t least = one.failures;
    for (const Tried& other : all) {
      if (least > 0 && other.proposal->finding != one.proposal->finding) {
        const Joint together = joint(one, other);
        least = together.go_together ? std::min(least, together.failures) : least;
      }
    }
    return least;
  }

  // Of several for one finding those are left out that lead to a failure which nothing mends
  // beside them, where another leads to fewer: its remedy would undo them again.
  void drop_ends(std::span<Tried> compared) {
    std::map<size_t, std::vector<std::pair<Tried*, std::ptrdiff_t>>> alternatives;
    for (Tried& tried : compared) {
      if (!tried.proposal->instead_of) {
        alternatives[tried.proposal->finding].emplace_back(&tried, 0);
      }
    }
    for (auto& [finding, all] : alternatives) {
      if (all.size() < 2) {
        continue;
      }
      std::ptrdiff_t least = std::numeric_limits<std::ptrdiff_t>::max();
      for (auto& [tried, failures] : all) {
        failures = least_failures(*tried, compared);
        least = std::min(least, failures);
      }
      for (const auto& [tried, failures] : all) {
        tried->dropped = failures > least;
      }
    }
  }

  // What makes all columns agree is advised, too: where it mends a finding by itself, what does not
  // go with it is left out.
  void drop_for_agreement() {
    const auto agreed = place_.apart.empty() || tried_.empty()
                            ? std::nullopt
                            : trials_.run(place_.columns, place_.apart);
    if (!agreed || agreed->fails) {
      return;
    }
    for (Tried& tried : tried_) {
      const Finding& finding = report_.findings[tried.proposal->finding];
      const auto trial =
          agreed->mends(finding)
              ? trials_.run(place_.columns, both(tried.proposal->edits, place_.apart))
              : std::nullopt;
      const bool differ =
          differ_in_a_line(tried.proposal->edits, place_.apart) ||
          (trial && (trial->brings.size() > tried.trial.brings.size() || !trial->mends(finding)));
      tried.dropped |= agreed->mends(finding) && differ;
    }
  }

  const Report& report_;
  const ProposalPlace& place_;
  RecipeTrials& trials_;
  std::vector<Tried> tried_;
  std::map<std::pair<const Proposal*, const Proposal*>, Joint> joints_;
};

// `put_in`: how many stand there already in place of installations.
void say(Finding& finding, const Tried& tried, std::string unread, size_t& put_in) {
  const Proposal& proposal = *tried.proposal;
  Remedy remedy = remedy_of(proposal.edits, proposal.text, proposal.more);
  const bool said = std::ranges::any_of(proposal.edits, [&](const AlignmentEdit& edit) {
    return edit.why.contains(unread);  // those of an alignment have it in their words
  });
  remedy.cost = said ? std::string() : std::move(unread);
  if (!proposal.instead_of) {
    finding.remedies.push_back(std::move(remedy));
    return;
  }
  const std::vector<std::string>& brings = tried.trial.brings;
  const std::string cost =
      brings.empty() ? proposal.cost : fmt::format("{}", fmt::join(brings, "; "));
  remedy.cost += (remedy.cost.empty() || cost.empty() ? "" : "; ") + cost;
  const size_t place = std::min(*proposal.instead_of + put_in++, finding.remedies.size());
  finding.remedies.insert(finding.remedies.begin() + static_cast<std::ptrdiff_t>(place),
                          std::move(remedy));
}

// A failure that goes with the remedy of another one says so, before remedies of its own.
void say_of_others(Report& report, const std::vector<Tried>& all) {
  std::set<size_t> said;
  for (const Tried& tried : all) {
    const Finding& owner = report.findings[tried.proposal->finding];
    if (tried.dropped || tried.proposal->instead_of || owner.level != Level::Fail) {
      continue;
    }
    const Remedy remedy =
        remedy_of(tried.proposal->edits, tried.proposal->text, tried.proposal->more);
    // Findings that nobody proposed anything for may be of rules that trials do not run.
    for (const Tried& other : all) {
      Finding& finding = report.findings[other.proposal->finding];
      const bool own = other.proposal->finding == tried.proposal->finding;
      if (own || finding.level != Level::Fail || !tried.trial.mends(finding) ||
          std::ranges::find(finding.remedies, remedy) != finding.remedies.end() ||
          !said.insert(other.proposal->finding).second) {
        continue;
      }
      Remedy same = remedy;
      same.text = fmt::format("What mends {} mends this, too{}", owner.subject,
                              remedy.text.empty() ? "" : ": " + remedy.text);
      finding.remedies.insert(finding.remedies.begin(), std::move(same));
    }
  }
}

}  // namespace

void add_remedies(Diagnosis& diagnosis, const ProposalPlace& place, const Proposals& proposals,
                  RecipeTrials& trials) {
  const std::vector<Tried> all = Chooser(diagnosis.report, place, trials).choose(proposals);
  std::map<size_t, size_t> put_in;  // by the finding
  for (const Tried& tried : all) {
    if (!tried.dropped) {
      say(diagnosis.report.findings[tried.proposal->finding], tried,
          unread_needs(tried.proposal->edits, place.column, diagnosis.knowledge),
          put_in[tried.proposal->finding]);
    }
  }
  say_of_others(diagnosis.report, all);
  // What was left out for another one is mended by that, or waits for it.
  for (const Tried& dropped : all) {
    Finding& finding = diagnosis.report.findings[dropped.proposal->finding];
    // An installation stands in front of what else helps: so does what comes in its place.
    const bool in_front = dropped.proposal->instead_of && put_in[dropped.proposal->finding] == 0;
    if (!dropped.dropped || (!finding.remedies.empty() && !in_front)) {
      continue;
    }
    const auto other = std::ranges::find_if(
        all, [&](const Tried& tried) { return !tried.dropped && tried.trial.mends(finding); });
    if (other != all.end()) {
      finding.remedies.insert(
          finding.remedies.begin(),
          remedy_of(other->proposal->edits, other->proposal->text, other->proposal->more));
      ++put_in[dropped.proposal->finding];
    } else if (!place.apart.empty() && finding.remedies.empty()) {
      finding.remedies.push_back({.command = {},
                                  .text = "The lines that make all recipes agree mend it, too",
                                  .cost = {}});
    }
  }
}

}  // namespace mynah::doctor
