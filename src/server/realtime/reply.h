// Reply: a response to a client of Realtime, written by a language model or given, in events.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/chat/completion_request.h"
#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/realtime/conversation.h"
#include "server/realtime/reply_hold.h"
#include "server/realtime/settings.h"
#include "server/realtime/teller.h"

namespace mynah::server {

struct Reply {
  std::string response_id;
  SpeakingWish wish;
  bool in_conversation = true;
  std::string text{};                        // that is said, where none is written
  std::optional<CompletionRequest> asked{};  // of a language model
  std::string language{};                    // ISO 639-1, of who is answered; "": unknown
  // It is prepared: written, and its first clause spoken, and nothing told before it is wanted.
  // Null: it is.
  std::shared_ptr<ReplyHold> hold{};
};

// What became of it.
struct Replied {
  std::string response_id;
  nlohmann::ordered_json output = nlohmann::ordered_json::array();  // items
  Generated spent{};                                                // of the language model
  int64_t sound_ms = 0;                                             // that was sent
  int64_t unplayed_ms = 0;  // of it, by a client that plays it as it comes
  bool cut = false;         // there was room for no more tokens
  std::vector<ReplyNote> notes{};
  std::string code{};     // of an error, for programs; "": that of its kind
  Status status{};        // Cancelled: it was stopped
  bool unwanted = false;  // it was prepared, and came to nothing: nobody was told of it
};

// Who writes and speaks, for whom it counts, where it is kept, and who is told.
struct ReplyWays {
  Service& service;
  SocketTurns& turns;
  Conversation& conversation;
  Teller& teller;
};

// Writes and speaks it from this thread, and tells each item of it. What a language model writes is
// read as Markdown and spoken clause by clause while it goes on; what it thinks is not told.
[[nodiscard]] Replied give_reply(const ReplyWays& ways, Reply reply, const std::stop_token& stop);

}  // namespace mynah::server
