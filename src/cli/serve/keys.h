// `mynah keys`: who may ask `mynah serve`, what for and how much.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "server/access/keys.h"

namespace mynah::cli {

// Where keys are kept unless --key-file says otherwise.
[[nodiscard]] std::string usual_key_file(const Environment& environment);

class KeysCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<int> list(Context& context) const;
  Result<int> add(Context& context) const;
  // What the option has that names the server; Usage where it is no address.
  [[nodiscard]] Status check_link() const;
  Result<int> remove(Context& context) const;

  std::vector<std::string> words_;  // the action, then names
  std::string file_;
  std::string link_;  // of the server
  std::vector<std::string> rights_ = server::names_of(server::kUsualRights);
  server::KeyLimits limits_;
};

}  // namespace mynah::cli
