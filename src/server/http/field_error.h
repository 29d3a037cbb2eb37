// FieldError: a field of a request that is wrong, with what was wanted of it.
#pragma once

#include <string>

#include "base/result.h"

namespace mynah::server {

struct FieldError {
  std::string field;
  Error error;
};

}  // namespace mynah::server
