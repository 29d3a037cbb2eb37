// What to do where a card has no room for a model.
#pragma once

#include <string>

#include "base/result.h"
#include "tensor/device.h"

namespace mynah::engine {

// An error of loading a model onto `device`, of whose memory so much was free: where memory ran
// out, with what the model's weights take and in which storage type they would fit. Other errors
// stay as they are.
[[nodiscard]] Error with_what_fits(Error error, const std::string& model_path,
                                   const std::string& device, const DeviceMemory& memory);

}  // namespace mynah::engine
