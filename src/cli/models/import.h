// `mynah import`: takes in a model file that the user already has.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

class ImportCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;

 private:
  std::vector<std::string> paths_;
  std::string name_;
  std::string type_;
  bool force_ = false;
};

}  // namespace mynah::cli
