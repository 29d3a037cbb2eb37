// ChatModel: a language model as people and programs converse with it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_prompt.h"
#include "chat/chat_request.h"
#include "chat/generation_queue.h"
#include "text/grammar/constraint_cache.h"

namespace mynah {

// Any number of threads may use it.
class ChatModel {
 public:
  // `path`: the GGUF file that the model was opened from, for its words. As ChatPrompt::read()
  // refuses.
  static Result<std::unique_ptr<ChatModel>> open(const std::string& path,
                                                 std::shared_ptr<const LanguageModel> model,
                                                 GenerationQueue::Limits limits = {});

  [[nodiscard]] const ChatPrompt& prompt() const { return prompt_; }

  [[nodiscard]] const LanguageFacts& facts() const { return queue_.model().facts(); }

  // Replies to a conversation. As ChatPrompt::render() and GenerationQueue::submit() refuse, and
  // InvalidInput or Unsupported for a constraint that cannot be followed, with its place. Cancelled
  // once stop is requested. What was told before an error stays.
  [[nodiscard]] Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                                        const std::stop_token& stop);

  // Goes on with a text, without a template, calls or thoughts; as reply().
  [[nodiscard]] Result<ChatReply> go_on(std::string_view text, const ChatRequest& request,
                                        ChatObserver& observer, const std::stop_token& stop);

  [[nodiscard]] GenerationLoad load() const { return queue_.load(); }

  // Has it write a token, as a first request would.
  [[nodiscard]] Status warm_up();

 private:
  ChatModel(ChatPrompt prompt, std::shared_ptr<const LanguageModel> model,
            GenerationQueue::Limits limits);

  // What is written behind a prompt.
  struct Asked {
    std::vector<int32_t> tokens;
    ReplyFormat format;
    ReplyOptions options;
  };

  [[nodiscard]] Result<ChatReply> run(Asked asked, const ChatRequest& request,
                                      ChatObserver& observer, const std::stop_token& stop);
  // Without its rule, and who is told.
  [[nodiscard]] GenerationTask task_of(const Asked& asked, const ChatRequest& request) const;

  [[nodiscard]] Result<std::shared_ptr<const grammar::Constraint>> constraint_of(
      const grammar::ConstraintSource& source);

  ChatPrompt prompt_;
  std::set<std::string, std::less<>> control_markers_;
  std::mutex mutex_;
  std::unique_ptr<grammar::ConstraintCache> constraints_;  // once one was asked for
  GenerationQueue queue_;  // the first to go: its thread asks the rest
};

}  // namespace mynah
