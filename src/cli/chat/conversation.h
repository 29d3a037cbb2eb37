// Conversation: what was said so far, and one more reply to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "chat/chat_model.h"
#include "talk/memory/conversation_memory.h"

namespace mynah::cli {

// What is told of a reply that repeats itself.
inline constexpr std::string_view kRepeatsText =
    "the answer repeats itself: Ctrl-C stops it, --repeat-penalty 1.1 or another model may help";

// The note of a reply that was ended for that.
inline constexpr std::string_view kRepeatsNote = "repeats";

// What --think and /think take, and what they mean; none: none of them.
inline constexpr std::string_view kThinkingWords =
    "auto, off, on, minimal, low, medium, high or a number of tokens";
[[nodiscard]] std::optional<Thinking> thinking_of(std::string_view word);

class Conversation {
 public:
  using Json = nlohmann::ordered_json;

  // `model` must outlive it. `base` has everything but messages.
  Conversation(ChatModel& model, ChatRequest base, std::string system);

  // Keeps from now on what is said in a memory, and has the model reminded of what it holds with
  // each question. `tell` is told what went wrong there: the conversation goes on without it.
  void remember(std::shared_ptr<talk::ConversationMemory> memory, std::string model_name,
                std::function<void(std::string_view)> tell);

  // Begins anew: what the system message says stays.
  void clear();
  void set_system(std::string system);

  void say(const std::string& text);

  // What the model was reminded of with the last question.
  [[nodiscard]] const std::vector<talk::RecalledWords>& recalled() const { return recalled_; }

  [[nodiscard]] bool remembers() const { return memory_ != nullptr; }

  void answer_call(const ToolCall& call, std::string result);

  // Takes back the last question with all that came of it, and has the memory forget what it kept
  // of that; false: there was none.
  bool undo();
  // Takes back what came of the last question alone.
  bool take_back_reply();

  // Replies to what was said; what came of a reply that was stopped is kept, as it was heard. A
  // note says where the model's template has no place for the tools. `on_repetition` is called once
  // where the reply, or its thought, repeats itself as RepetitionWatch has it: false ends it there,
  // as a reply of that length, which a note (kRepeatsNote) says.
  [[nodiscard]] Result<ChatReply> reply(ChatObserver& observer, const std::stop_token& stop,
                                        const std::function<bool()>& on_repetition);

  // Goes on with another conversation's messages, of that file. Refused, as ChatPrompt::render(),
  // where they are none; all stays as it was then.
  [[nodiscard]] Status load(Json messages, std::string_view file);

  // Whether the model could be opened with a longer context.
  [[nodiscard]] bool has_more_context() const {
    return model_.facts().context < model_.facts().trained_context;
  }

  [[nodiscard]] const Json& messages() const { return request_.messages; }

  [[nodiscard]] ChatRequest& request() { return request_; }

 private:
  // Keeps a turn, where there is a memory.
  void keep(talk::MemoryOrigin origin, std::string_view who, std::string_view text);

  ChatModel& model_;
  ChatRequest request_;
  std::string system_;
  std::shared_ptr<talk::ConversationMemory> memory_;  // null: nothing is kept
  std::vector<size_t> marks_;  // ConversationMemory::kept() before each question
  std::vector<talk::RecalledWords> recalled_;
  std::string model_name_;
  std::function<void(std::string_view)> tell_;
};

// What the model was reminded of with the last question, a line each for people.
[[nodiscard]] std::vector<std::string> recalled_lines(const Conversation& conversation);

// The messages of a conversation that was written to a file. As read_text_file() and parse_json()
// refuse, and InvalidInput where there is no list; what stands in it is for load() to see.
[[nodiscard]] Result<Conversation::Json> read_messages(const std::string& file);

}  // namespace mynah::cli
