// ChatChunks: a reply that comes as chunks of OpenAI's chat completions, or as one whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/reply/reply_parser.h"

namespace mynah::talk {

// Thoughts and calls that a server leaves in the text ("<think>", "<tool_call>") are told apart as
// those of our own models are.
class ChatChunks {
 public:
  // `id_seed`: of calls that have no id.
  explicit ChatChunks(uint64_t id_seed);

  // Takes the data of one event, or a whole completion, and gives what it added. InvalidInput where
  // it is neither, or the reply is too long; Io with what the server says where it failed.
  [[nodiscard]] Result<ChatDelta> push(std::string_view data);

  // Nothing more comes: what was held back.
  [[nodiscard]] ChatDelta finish();

  // Whether the reply has ended; one that stops before was cut.
  [[nodiscard]] bool has_ended() const { return ended_; }

  // Whether "[DONE]" came, behind which nothing stands.
  [[nodiscard]] bool is_done() const { return done_; }

  [[nodiscard]] const ChatReply& reply() const { return reply_; }

  // Which model the server says that it is of; "": it does not say.
  [[nodiscard]] const std::string& model() const { return model_; }

 private:
  using Json = ChatRequest::Json;

  // A call under way: where the server has it, and where the reply does.
  struct Told {
    int64_t index = -1;  // the server's; -1: it says none
    std::string id;
    size_t number = 0;
    bool spoilt = false;
  };

  void take_message(const Json& message, ReplyDelta& delta);
  void take_text(std::string_view text, ReplyDelta& delta);
  void take_parsed(const ReplyDelta& parsed, ReplyDelta& delta);
  void take_call(const Json& call, ReplyDelta& delta);
  // The call that these belong to; null: there are too many.
  Told* call_of(int64_t index, const std::string& id, const std::string& name, ReplyDelta& delta);
  void add_arguments(Told& told, std::string_view arguments, ReplyDelta& delta);
  void take_usage(const Json& usage);
  void take_end(std::string_view reason);
  [[nodiscard]] Status check_length() const;

  uint64_t id_seed_;
  ReplyParser parser_;
  ChatReply reply_;
  std::string model_;
  std::vector<Told> told_;
  std::vector<size_t> parsed_calls_;  // numbers of those that stood in the text
  bool ended_ = false;
  bool done_ = false;
};

}  // namespace mynah::talk
