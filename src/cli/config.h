// `mynah config`: every option, its value and where that came from; and the documents made of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

// docs/configuration.md.
[[nodiscard]] std::string configuration_markdown(std::span<const Verb> verbs);
// The man page, in man(7)'s macros.
[[nodiscard]] std::string man_page(std::span<const Verb> verbs);
// A configuration file with every option in it, commented out.
[[nodiscard]] std::string example_config(std::span<const Verb> verbs);

class ConfigCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;

 private:
  std::vector<std::string> verbs_;
  bool markdown_ = false;
  bool man_ = false;
  bool example_ = false;
};

}  // namespace mynah::cli
