// What the ids of a reply's calls are made of, where the model writes none.
#pragma once

#include <cstdint>

#include "chat/chat_request.h"

namespace mynah {

// The same request has the same ids; the next one of its conversation others, with the same seed
// too: clients know by its id alone which call a tool answered.
[[nodiscard]] inline uint64_t call_id_seed(const ChatRequest& request) {
  constexpr uint64_t kTurnShift = 32;  // far from the seeds of other choices and the calls' numbers
  return request.choice.seed + (static_cast<uint64_t>(request.messages.size()) << kTurnShift);
}

}  // namespace mynah
