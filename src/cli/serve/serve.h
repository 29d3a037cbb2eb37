// `mynah serve`: what mynah does, for clients that come over the network.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "server/server.h"

namespace mynah::cli {

class ServeCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // NAME=MODEL, as --alias takes it.
  [[nodiscard]] Result<std::vector<server::Alias>> read_aliases() const;

  server::ServerOptions options_;
  std::vector<std::string> aliases_;
  bool lan_ = false;
  bool quiet_ = false;
};

}  // namespace mynah::cli
