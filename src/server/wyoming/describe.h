// What a Wyoming client is told of what is here.
#pragma once

#include "server/models/service.h"
#include "server/wyoming/message.h"

namespace mynah::server {

// The answer to "describe": the models that hear, the default first, and the voices. Nothing is
// opened for it but, once, what tells which languages a model knows.
[[nodiscard]] WyomingMessage describe_wyoming(const Service& service);

}  // namespace mynah::server
