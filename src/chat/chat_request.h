// What is asked of a language model in a conversation, and what it replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// How much is thought before the answer. A model's chat template is told what it knows to be told;
// for the rest a thought is ended when it has so many tokens.
struct Thinking {
  enum class Effort : uint8_t { AsTaught, None, On, Minimal, Low, Medium, High };

  Effort effort = Effort::AsTaught;
  int64_t most_tokens = -1;  // of thoughts; -1: as the effort has it
};

// What becomes of a conversation that has no room in the context.
enum class TooLong : uint8_t {
  Refuse,
  LeaveOut  // its oldest turns, never the system's messages and the last turn; and it is said
};

// Something that who asked should know of a reply.
struct ReplyNote {
  std::string code;  // for programs: "messages_left_out"
  std::string text;  // a sentence, without a capital at its beginning

  bool operator==(const ReplyNote&) const = default;
};

// The code of the note that an answer in a form was cut before it was one.
inline constexpr std::string_view kFormCutNote = "form_cut";

struct ChatRequest {
  using Json = nlohmann::ordered_json;

  // In the form of OpenAI's API: role, content (text, or parts of text), name, tool_calls,
  // tool_call_id, reasoning_content.
  Json messages = Json::array();
  Json tools = Json::array();
  // Of the template, beside messages and tools: {"enable_thinking": false}.
  Json template_arguments = Json::object();
  // Written of one call alone, where tools may be called.
  bool one_call = false;
  // A call must come: one of the tool of that name, or any where it is empty. None: they may come.
  std::optional<std::string> must_call;
  Thinking thinking;
  TooLong too_long = TooLong::Refuse;
  int64_t context = 0;  // that is counted on, where the model has more; 0: all that it has
  std::optional<grammar::ConstraintSource> constraint;
  ReplyChoice choice;
  std::string owner;         // GenerationTask::owner
  std::string conversation;  // GenerationTask::conversation
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
  std::vector<ReplyNote> notes;
};

// Is told of a reply as it comes, on the thread of who asked. An error ends it.
class ChatObserver {
 public:
  ChatObserver() = default;
  virtual ~ChatObserver() = default;
  ChatObserver(const ChatObserver&) = delete;
  ChatObserver& operator=(const ChatObserver&) = delete;

  // Before the first delta: how long the prompt is, and what there is room for.
  virtual Status on_begin(int64_t prompt_tokens, int64_t context) {
    static_cast<void>(prompt_tokens);
    static_cast<void>(context);
    return {};
  }

  // Once all was told.
  virtual Status on_end(const ChatReply& reply) {
    static_cast<void>(reply);
    return {};
  }

  // Of ChatReply::notes, each as soon as it is known: some before on_begin().
  virtual void on_note(const ReplyNote& note) { static_cast<void>(note); }

  virtual Status on_delta(const ChatDelta& delta) {
    static_cast<void>(delta);
    return {};
  }
};

}  // namespace mynah
