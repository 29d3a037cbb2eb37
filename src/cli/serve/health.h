// `mynah health`: whether a server lives, for a container's HEALTHCHECK.
#pragma once

#include <string>

#include "cli/command/verb.h"

namespace mynah::cli {

class HealthCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  std::string url_ = "http://127.0.0.1:8080";
  std::string ca_file_;
  bool ready_ = false;
};

}  // namespace mynah::cli
