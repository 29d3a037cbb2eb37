// `mynah serve`: what mynah does, for clients that come over the network.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/serve/access_log.h"
#include "cli/serve/job_fields.h"
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

  // At SIGHUP. `what`: is read again, for people.
  static void reload(const Context& context, server::Server& server, AccessLog& log,
                     const std::string& what);

  server::ServerOptions options_;
  JobFields jobs_;
  std::vector<std::string> aliases_;
  bool lan_ = false;
  std::string access_log_;
  bool quiet_ = false;
};

}  // namespace mynah::cli
