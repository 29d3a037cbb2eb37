// ChatModel: a language model as people and programs converse with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_prompt.h"
#include "chat/chat_request.h"
#include "chat/generation_queue.h"
#include "chat/reply_arrivals.h"
#include "chat/reply_constraints.h"
#include "chat/reply_rule.h"
#include "chat/reply_stream.h"

namespace mynah {

// Any number of threads may use it.
class ChatModel {
 public:
  // `file`: what the model was opened from, for its words. As ChatPrompt::read() refuses.
  static Result<std::unique_ptr<ChatModel>> open(const TensorFile& file,
                                                 std::shared_ptr<const LanguageModel> model,
                                                 GenerationQueue::Limits limits = {});

  [[nodiscard]] const ChatPrompt& prompt() const { return prompt_; }

  [[nodiscard]] const LanguageFacts& facts() const { return queue_.model().facts(); }

  // Replies to a conversation. As ChatPrompt::render() and GenerationQueue::submit() refuse, and
  // InvalidInput or Unsupported for a constraint that cannot be followed, with its place. Cancelled
  // once stop is requested. What was told before an error stays.
  [[nodiscard]] Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                                        const std::stop_token& stop);

  // Of the replies to one request so many are written side by side, the others as these end: it
  // leaves places to who else asks.
  static constexpr size_t kSideBySide = 8;

  // A reply to the same conversation for each observer, which reads it once. Each is what reply()
  // has for a seed that is higher by its number, from 0. They are told in turns; the first error
  // ends them all.
  [[nodiscard]] Result<std::vector<ChatReply>> replies(const ChatRequest& request,
                                                       std::span<ChatObserver* const> observers,
                                                       const std::stop_token& stop);

  // Goes on with texts, without a template, calls or thoughts: as replies(), as many of them to
  // each text.
  [[nodiscard]] Result<std::vector<ChatReply>> go_on(std::span<const std::string> texts,
                                                     const ChatRequest& request,
                                                     std::span<ChatObserver* const> observers,
                                                     const std::stop_token& stop);

  [[nodiscard]] GenerationLoad load() const { return queue_.load(); }

  // Has it write a token, as a first request would.
  [[nodiscard]] Status warm_up();

 private:
  ChatModel(ChatPrompt prompt, std::shared_ptr<const LanguageModel> model,
            GenerationQueue::Limits limits);

  // What is written behind a prompt.
  struct Asked {
    std::vector<int32_t> tokens;
    std::vector<int64_t> forks;  // GenerationTask::forks
    ReplyFormat format;
    ReplyOptions options;
    std::shared_ptr<const grammar::Constraint> content;  // the answer's form; null: none
    std::optional<ReplyRules> rules;                     // none: anything may come
    int64_t most_tokens = 0;                             // as GenerationOptions has it
    std::vector<ReplyNote> notes;
  };

  // A reply that is written.
  struct Writing {
    std::shared_ptr<ReplyStream> stream;  // null: it is not begun, or has ended
    std::shared_ptr<ReplyRule> rule;      // null: none
  };

  // As many replies to each prompt.
  [[nodiscard]] Result<std::vector<ChatReply>> run(std::span<const Asked> asked,
                                                   const ChatRequest& request,
                                                   std::span<ChatObserver* const> observers,
                                                   const std::stop_token& stop);
  // What is told before anything is written; refuses a prompt that has no room.
  [[nodiscard]] Status announce(const Asked& asked, const ChatRequest& request,
                                ChatObserver& observer) const;
  // Has the reply of that number written, one of so many to its prompt.
  [[nodiscard]] Result<Writing> begin(const Asked& asked, const ChatRequest& request, size_t number,
                                      size_t of_prompt,
                                      const std::shared_ptr<ReplyArrivals>& arrivals,
                                      const std::stop_token& stop);
  // One that is over.
  [[nodiscard]] Result<ChatReply> end(const Asked& asked, const Writing& writing,
                                      ChatObserver& observer) const;

  // Tokens that a conversation may have.
  [[nodiscard]] int64_t context_of(const ChatRequest& request) const;
  // Refuses what shortening a conversation could not help.
  [[nodiscard]] Status check_room(int64_t prompt, const ChatRequest& request) const;
  // The prompt of a conversation; notes what was left out of it.
  [[nodiscard]] Result<Asked> ask(ChatRequest& request) const;
  [[nodiscard]] Status add_rule(const ChatRequest& request, const ThinkingPlan& thinking,
                                Asked& asked);
  // Calls of the request's tools.
  [[nodiscard]] Status add_calls(const ChatRequest& request, Asked& asked, ReplyRules& rules);
  // What of a reply is known once it has ended. `rule`: null: it had none.
  void add_notes(const Asked& asked, const ReplyRule* rule, ChatReply& reply) const;
  // Tokens as their text shows them.
  [[nodiscard]] std::string shown(std::span<const int32_t> tokens) const;

  ChatPrompt prompt_;
  ThoughtMarkers thoughts_;
  ReplyConstraints constraints_;
  GenerationQueue queue_;  // the first to go: its thread asks the rest
};

}  // namespace mynah
