#include "talk/loop/chat_record.h"

#include <utility>

namespace mynah::talk {

namespace {

void add_message(ChatRequest::Json& messages, const char* role, const std::string& text) {
  if (!messages.empty() && messages.back()["role"] == role) {
    auto& content = messages.back()["content"];
    content = content.get<std::string>() + "\n" + text;
    return;
  }
  messages.push_back({{"role", role}, {"content", text}});
}

}  // namespace

ChatRecord::ChatRecord(ChatRequest base, const std::string& system) : request_(std::move(base)) {
  request_.messages = ChatRequest::Json::array();
  if (!system.empty()) {
    request_.messages.push_back({{"role", "system"}, {"content", system}});
  }
}

void ChatRecord::add_user(const std::string& text) {
  add_message(request_.messages, "user", text);
}

void ChatRecord::add_assistant(const std::string& text) {
  const bool after_user =
      !request_.messages.empty() && request_.messages.back()["role"] != "system";
  if (!text.empty() && after_user) {
    add_message(request_.messages, "assistant", text);
  }
}

ChatRequest ChatRecord::with_user(const std::string& text) const {
  ChatRequest request = request_;
  add_message(request.messages, "user", text);
  return request;
}

// Nothing in it changes from turn to turn: a model reads it once.
std::string spoken_system(const std::string& users) {
  std::string system =
      "You are in a spoken conversation. What you write is read aloud. Answer in one to three "
      "short "
      "sentences, in the language that the user speaks. Write plain words: no lists, no headings, "
      "no links, no emoji, no code.";
  if (!users.empty()) {
    system += "\n\n" + users;
  }
  return system;
}

}  // namespace mynah::talk
