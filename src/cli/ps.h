// `mynah ps`: what mynah processes of this user have loaded, and where.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace mynah::cli {

class PsCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  std::vector<std::string> words_;
  bool unload_ = false;
};

}  // namespace mynah::cli
