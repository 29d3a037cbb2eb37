// What a Wyoming client is told of what is here.
#pragma once

#include "server/models/service.h"
#include "server/wyoming/message.h"

namespace mynah::server {

// The answer to "describe": the models that hear, the default first, and the voices. Nothing is
// opened for it but, once, what tells which languages a model knows. `endpointing`: where a turn
// ends is found here.
[[nodiscard]] WyomingMessage describe_wyoming(const Service& service, bool endpointing);

}  // namespace mynah::server
