// ChatRecord: what was said in a conversation, as a language model is told it.
#pragma once

#include <string>

#include "chat/chat_request.h"

namespace mynah::talk {

// Half of what is kept is left out, whole turns from the oldest on, where it is more than
// kMostRecorded bytes: a model reads fewer, and each question would be asked with all of it.
inline constexpr size_t kMostRecorded = size_t{512} * 1024;

// Texts of one speaker that follow each other are one message, and the user's is the first: chat
// templates want it so.
class ChatRecord {
 public:
  // `base`: all but its messages. `system`: what the model is told before all else; "": nothing.
  ChatRecord(ChatRequest base, const std::string& system);

  void add_user(const std::string& text);

  // What of a reply was heard: nothing that was not played. "" is nothing.
  void add_assistant(const std::string& text);

  // What became of the turn that was added last: its message as the model was told it, what was
  // called meanwhile, and what of the reply was heard.
  void end_turn(const ChatRequest::Json& messages);

  // Asks for a reply to what a user says now.
  [[nodiscard]] ChatRequest with_user(const std::string& text) const;

  [[nodiscard]] const ChatRequest::Json& messages() const { return request_.messages; }

 private:
  void add(const char* role, const std::string& text);
  void leave_out();

  ChatRequest request_;
  size_t recorded_ = 0;  // bytes of all texts but the system's
};

// What a model is told whose replies are spoken, before what its user wants it to know.
[[nodiscard]] std::string spoken_system(const std::string& users);

}  // namespace mynah::talk
