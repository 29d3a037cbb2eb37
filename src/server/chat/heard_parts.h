// Sound in messages, heard.
#pragma once

#include <expected>

#include <nlohmann/json.hpp>

#include "server/chat/write_replies.h"
#include "server/hear/heard_once.h"
#include "server/http/exchange.h"

namespace mynah::server {

// Has what people said in parts {"type": "input_audio", "input_audio": {"data", "format"}} of
// messages' contents heard by the default model that hears, and puts their words in their place.
// What a turn of a conversation sends again is heard once (HeardOnce). Wants the right to hear.
std::expected<void, WriteError> hear_parts(nlohmann::ordered_json& messages,
                                           const HearingParts& parts, Exchange& exchange);

}  // namespace mynah::server
