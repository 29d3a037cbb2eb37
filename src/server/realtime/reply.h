// Reply: a text that is spoken to a client of Realtime, in events.
#pragma once

#include <stop_token>
#include <string>

#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/realtime/settings.h"
#include "server/realtime/teller.h"

namespace mynah::server {

struct Reply {
  std::string response_id;
  std::string item_id;
  std::string text;
  SpeakingWish wish;
};

// What became of it.
struct Spoken {
  Reply reply;
  std::string transcript{};  // of what was sent
  int64_t ms = 0;            // of sound that was sent
  Status status{};           // Cancelled: it was stopped
};

// Who speaks, for whom it counts, and who is told.
struct ReplyWays {
  Service& service;
  SocketTurns& turns;
  Teller& teller;
};

// Speaks it from this thread: the deltas of its sound and of what is said with that. One of text
// alone is sent as it is.
[[nodiscard]] Spoken speak_reply(const ReplyWays& ways, Reply reply, const std::stop_token& stop);

}  // namespace mynah::server
