// `mynah profile`: placements that were measured and kept; which of them are in use.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "place/plans/profile_folder.h"

namespace mynah::cli {

class ProfileCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<int> list(Context& context, const place::ProfileFolder& folder) const;
  Result<int> use(Context& context, const place::ProfileFolder& folder) const;
  Result<int> show(Context& context, const place::ProfileFolder& folder) const;
  Result<int> diff(Context& context, const place::ProfileFolder& folder) const;
  Result<int> remove(Context& context, const place::ProfileFolder& folder) const;

  std::vector<std::string> words_;  // the action, then names
};

}  // namespace mynah::cli
