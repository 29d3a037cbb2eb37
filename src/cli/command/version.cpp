#include "cli/command/version.h"

#include <nlohmann/json.hpp>

#include "cli/command/program.h"
#include "engine/version.h"

namespace mynah::cli {

std::string version_text(bool json) {
  if (!json) {
    return engine::version_line();
  }
  const engine::ProgramVersion program = engine::program_version();
  const nlohmann::ordered_json object = {{"version", program.version},
                                         {"commit", program.commit},
                                         {"build", program.build},
                                         {"compiler", program.compiler},
                                         {"processor", program.processor}};
  return object.dump();
}

void VersionCommand::fields(Fields& /*fields*/) {}

Result<int> VersionCommand::run(Context& context) {
  context.out.line(version_text(context.json));
  return 0;
}

}  // namespace mynah::cli
