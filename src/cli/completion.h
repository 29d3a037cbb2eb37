// `mynah completion`: scripts that complete mynah's command lines in a shell.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

[[nodiscard]] std::string bash_completion(std::span<const Verb> verbs);
[[nodiscard]] std::string zsh_completion(std::span<const Verb> verbs);
[[nodiscard]] std::string fish_completion(std::span<const Verb> verbs);

class CompletionCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  std::vector<std::string> shells_;
};

}  // namespace mynah::cli
