// Clauses that another mynah has spoken here.
#pragma once

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// The question is a place::VoiceQuestion.
[[nodiscard]] Handler voice_for_others(Service& service);

// The question is a place::ClauseQuestion.
[[nodiscard]] Handler clause_for_others(Service& service);

}  // namespace mynah::server
