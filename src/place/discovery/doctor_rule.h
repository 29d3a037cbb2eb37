// DoctorRule: what `mynah doctor` would say of mynah on a card.
#pragma once

#include "place/discovery/predict.h"

namespace mynah::place {

// Asks the doctor's rules about mynah, about the driver and about a card that has a name, with the
// facts of discovery alone and the knowledge that this program was built with, which is read when
// the first such card is judged. What mynah's own rules say of a card, even that all is well, they
// saw with the driver itself: the doctor is not heard on that. Of the rest the worst is found: what
// fails for certain is Cannot, what may fail MayNot.
class DoctorRule final : public Rule {
 public:
  [[nodiscard]] std::string_view name() const override { return "doctor"; }

  [[nodiscard]] std::optional<Finding> judge(const DeviceFacts& device) const override;
};

}  // namespace mynah::place
