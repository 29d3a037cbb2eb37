// `mynah models`: what is in the store; verifying and removing it.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "store/store.h"

namespace mynah::cli {

class ModelsCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<int> list(Context& context, const Store& store) const;
  Result<int> show(Context& context, const Store& store) const;
  Result<int> verify(Context& context, const Store& store) const;
  Result<int> remove(Context& context, const Store& store) const;
  // The models named, or all of them.
  Result<std::vector<StoredModel>> named(const Store& store) const;

  std::vector<std::string> words_;  // the action, then names
  bool all_ = false;
};

}  // namespace mynah::cli
