// What to do where a card has no room for a model.
#pragma once

#include <string>

#include "base/result.h"
#include "tensor/backend.h"

namespace mynah::cli {

// An error of loading a model onto a device: where memory ran out, with what the model's weights
// take in each storage type and which of them would fit. Other errors stay as they are.
[[nodiscard]] Error with_what_fits(Error error, const std::string& model_path,
                                   const Backend& backend);

}  // namespace mynah::cli
