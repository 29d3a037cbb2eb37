// `mynah pull`: brings models of the catalogue.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

class PullCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  std::vector<std::string> names_;
  std::string type_;
  std::string hub_;
  bool offline_ = false;
  bool force_ = false;
  bool explain_ = false;
};

}  // namespace mynah::cli
