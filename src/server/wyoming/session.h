// A Wyoming client: speech to text and text to speech, as Home Assistant asks for them.
#pragma once

#include <string>

#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/net/byte_session.h"

namespace mynah::server {

// One connection may carry many requests, one after the other. `endpointing`: where somebody is
// done is found here, and the text is sent then, whether the client goes on or not.
//
// Who speaks Wyoming shows no key: the limits of the key "wyoming", where there is one, are those
// of all of them together. Both must outlive the sessions.
[[nodiscard]] ByteSessionMaker wyoming_sessions(Service& service, const TurnPlaces& turns,
                                                bool endpointing);

}  // namespace mynah::server
