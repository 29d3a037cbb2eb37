#include "server/operation/health.h"

#include <nlohmann/json.hpp>

#include "engine/version.h"

namespace mynah::server {

Handler alive() {
  return [](Exchange& exchange) { exchange.answer({.body = "{\"status\":\"ok\"}\n"}); };
}

Handler version() {
  return [](Exchange& exchange) {
    const nlohmann::ordered_json told = {{"name", "mynah"},
                                         {"version", engine::program_version().version}};
    exchange.answer({.body = told.dump() + "\n"});
  };
}

}  // namespace mynah::server
