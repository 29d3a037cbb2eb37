// What is to be expected of a device before anything is tried on it: rules, each of which looks at
// the facts of a device for one thing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "place/discovery/discover.h"

namespace mynah::place {

enum class Outlook : uint8_t {
  Fine,
  MayNot,  // it may work: a proof tells
  Cannot,  // it is not even tried
};

// "fine", "may not", "cannot".
[[nodiscard]] std::string_view outlook_name(Outlook outlook);

struct Finding {
  Outlook outlook = Outlook::Fine;
  std::string rule;    // Rule::name()
  std::string reason;  // a clause
  std::string remedy;  // an imperative; empty: nothing is known that helps, or is needed
};

// One thing that is looked at.
class Rule {
 public:
  virtual ~Rule() = default;

  // Words that do not change: "compute capability".
  [[nodiscard]] virtual std::string_view name() const = 0;

  // None: the rule has nothing to say about this device. The finding's rule is filled in by
  // predict().
  [[nodiscard]] virtual std::optional<Finding> judge(const DeviceFacts& device) const = 0;
};

// mynah's own, in the order in which they are asked.
[[nodiscard]] std::span<const Rule* const> own_rules();

// The doctor's (doctor_rule.h), and then mynah's own.
[[nodiscard]] std::span<const Rule* const> all_rules();

// What the rules find, the worst first; of equals in the order of the rules.
[[nodiscard]] std::vector<Finding> predict(const DeviceFacts& device,
                                           std::span<const Rule* const> rules = all_rules());

// The worst of them; Fine where there is none.
[[nodiscard]] Outlook worst(std::span<const Finding> findings);

}  // namespace mynah::place
