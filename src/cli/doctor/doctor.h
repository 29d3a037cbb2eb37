// `mynah doctor`: what will keep a speech stack from working, why, and what mends it.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/doctor/doctor_options.h"

namespace mynah::cli {

class DoctorCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<std::vector<std::string>> translate(std::vector<std::string> arguments,
                                             const Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  [[nodiscard]] Result<int> dispatch(Context& context) const;

  std::vector<std::string> words_;  // an action and what it is about, or places
  DoctorOptions options_;
};

}  // namespace mynah::cli
