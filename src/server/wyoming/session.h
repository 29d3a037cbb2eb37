// A Wyoming client: speech to text and text to speech, as Home Assistant asks for them.
#pragma once

#include <string>

#include "server/models/service.h"
#include "server/net/byte_session.h"

namespace mynah::server {

// One connection may carry many requests, one after the other. `endpointing`: where somebody is
// done is found here, and the text is sent then, whether the client goes on or not.
[[nodiscard]] ByteSessionMaker wyoming_sessions(Service& service, bool endpointing);

}  // namespace mynah::server
