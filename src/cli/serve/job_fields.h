// What `mynah serve` is told of jobs.
#pragma once

#include <string>

#include "base/environment.h"
#include "cli/command/fields.h"
#include "server/jobs/job_service.h"

namespace mynah::cli {

class JobFields {
 public:
  void declare(Fields& fields);

  // With the usual folder where none was named. Usage for what cannot be understood.
  [[nodiscard]] Result<server::JobOptions> read(const Environment& environment) const;

 private:
  server::JobOptions options_;
  std::string keep_results_ = "7d";
};

}  // namespace mynah::cli
