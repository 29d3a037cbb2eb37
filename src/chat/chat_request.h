// What is asked of a language model in a conversation, and what it replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/turns.h"
#include "chat/generation_queue.h"
#include "chat/reply/reply.h"
#include "text/grammar/constraint_source.h"

namespace mynah {

// How the tokens of a reply are chosen.
struct ReplyChoice {
  SamplingOptions sampling;
  int64_t remembered = 64;  // GenerationOptions::remembered: as llama.cpp's repeat_last_n
  uint64_t seed = 0;
  int64_t most_tokens = 0;         // 0: as many as there is room for
  std::vector<std::string> stops;  // texts that end the reply, and are no part of it
  int32_t alternatives = -1;       // of each token, to be told; -1: not even the token itself
};

struct ChatRequest {
  using Json = nlohmann::ordered_json;

  // In the form of OpenAI's API: role, content (text, or parts of text), name, tool_calls,
  // tool_call_id, reasoning_content.
  Json messages = Json::array();
  Json tools = Json::array();
  // Of the template, beside messages and tools: {"enable_thinking": false}.
  Json template_arguments = Json::object();
  std::optional<grammar::ConstraintSource> constraint;
  ReplyChoice choice;
  std::string owner;  // GenerationTask::owner
  Urgency urgency = Urgency::Interactive;
};

// A token of a reply, as clients who want log probabilities are told it.
struct ToldToken {
  std::string text;  // its bytes
  float log_probability = 0;
  std::vector<std::pair<std::string, float>> alternatives;  // best first
};

// What came of a reply since it was told last.
struct ChatDelta {
  ReplyDelta said;
  std::vector<ToldToken> tokens;  // where alternatives are wanted

  [[nodiscard]] bool empty() const { return said.empty() && tokens.empty(); }
};

// Why a reply ended.
enum class ReplyEnd : uint8_t {
  Whole,      // the model ended it
  Stop,       // one of ReplyChoice::stops came
  Calls,      // it wants tools called
  Length,     // most_tokens
  NoContext,  // the context is full
};

struct ChatReply {
  ReplyMessage message;
  ReplyEnd end = ReplyEnd::Whole;
  Generated spent;  // tokens and times
  int64_t thought_tokens = 0;
};

// Is told of a reply as it comes, on the thread of who asked. An error ends it.
class ChatObserver {
 public:
  ChatObserver() = default;
  virtual ~ChatObserver() = default;
  ChatObserver(const ChatObserver&) = delete;
  ChatObserver& operator=(const ChatObserver&) = delete;

  // Before the first delta: what the prompt was.
  virtual Status on_begin(int64_t prompt_tokens) {
    static_cast<void>(prompt_tokens);
    return {};
  }

  virtual Status on_delta(const ChatDelta& delta) {
    static_cast<void>(delta);
    return {};
  }
};

}  // namespace mynah
