// Two environments, lock files or images' trees side by side: `mynah doctor compare A B`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/plans/machine_compare.h"

namespace mynah::doctor {

enum class ChangeKind : uint8_t {
  Added,
  Removed,
  Newer,
  Older,
  Rebuilt,  // the same release, built otherwise: "+cu126" and "+cu128"
};

// "added", "removed", "newer", "older", "rebuilt".
[[nodiscard]] std::string_view change_name(ChangeKind kind);

// A package that is not the same on both sides.
struct PackageChange {
  std::string name;
  ChangeKind kind = ChangeKind::Added;
  std::string from;  // version; empty: not there
  std::string to;
  std::string effect;  // what it means for cards: "CUDA 12 to 13"; empty: nothing that is known of

  bool operator==(const PackageChange&) const = default;
};

// A framework on a card whose outcome is another, or that is on one side alone.
struct VerdictChange {
  std::string framework;
  std::string card;
  std::string from;  // version
  std::string to;
  Outcome before = Outcome::Unknown;
  Outcome after = Outcome::Unknown;
  std::string reason;  // of the second; empty where it is not there

  bool operator==(const VerdictChange&) const = default;
};

struct Comparison {
  std::vector<MachineChange> machine;   // where the two sides are of different machines
  std::vector<PackageChange> packages;  // by name
  uint64_t same = 0;                    // packages that are
  std::vector<VerdictChange> verdicts;
  std::vector<Finding> breaks;  // failures and warnings of the second that the first has not
  std::vector<Finding> mended;  // of the first that the second has not
  // Failures of the second that the first has, too; of two machines all that is worse than a note.
  std::vector<Finding> both;
  std::vector<Remedy> steps;  // from the first to the second, in order

  // Whether something that worked fails in the second.
  [[nodiscard]] bool is_worse() const;
};

// What changes from `first` to `second`, both on `machine`. Of lock files the frameworks are those
// that the wheels are known to bring.
[[nodiscard]] Comparison compare(const Facts& first, const Facts& second, const Machine& machine,
                                 const Knowledge& knowledge);

// The same of two machines with what is on each: each side on the machine of its own facts, and how
// those differ.
[[nodiscard]] Comparison compare_machines(const Facts& first, const Facts& second,
                                          const Knowledge& knowledge);

}  // namespace mynah::doctor
