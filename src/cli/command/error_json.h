// An error as it stands in JSON under "error".
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/command/error_codes.h"

namespace mynah::cli {

[[nodiscard]] inline nlohmann::ordered_json error_json(const Error& error) {
  return {{"code", error_code_name(error.code)}, {"message", error.message}};
}

}  // namespace mynah::cli
