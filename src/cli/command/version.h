// `mynah version`: how the program was built.
#pragma once

#include "cli/command/verb.h"

namespace mynah::cli {

class VersionCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
};

}  // namespace mynah::cli
