#include "talk/loop/chat_record.h"

#include <algorithm>
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

// Of its text and its calls.
size_t bytes_of(const ChatRequest::Json& message) {
  const auto content = message.find("content");
  const bool has_text = content != message.end() && content->is_string();
  const size_t text = has_text ? content->get_ref<const std::string&>().size() : 0;
  const auto calls = message.find("tool_calls");
  return text + (calls == message.end() ? 0 : calls->dump().size());
}

}  // namespace

ChatRecord::ChatRecord(ChatRequest base, const std::string& system) : request_(std::move(base)) {
  request_.messages = ChatRequest::Json::array();
  if (!system.empty()) {
    request_.messages.push_back({{"role", "system"}, {"content", system}});
  }
}

void ChatRecord::add(const char* role, const std::string& text) {
  add_message(request_.messages, role, text);
  recorded_ += text.size() + 1;  // and what joins it with the text before
  if (recorded_ > kMostRecorded) {
    leave_out();
  }
}

void ChatRecord::leave_out() {
  auto& messages = request_.messages;
  const auto is_user = [](const auto& message) { return message["role"] == "user"; };
  const auto first = std::ranges::find_if(messages, is_user);
  size_t all = 0;
  std::for_each(first, messages.end(), [&](const auto& message) { all += bytes_of(message); });
  auto kept = first;
  size_t passed = 0;  // bytes before the message that is looked at
  for (auto next = first; next != messages.end(); ++next) {
    if (is_user(*next)) {
      kept = next;
      if (all - passed <= kMostRecorded / 2) {
        break;
      }
    }
    passed += bytes_of(*next);
  }
  std::for_each(first, kept, [&](const auto& message) { all -= bytes_of(message); });
  recorded_ = all;
  messages.erase(first, kept);
}

void ChatRecord::add_user(const std::string& text) {
  add("user", text);
}

void ChatRecord::add_assistant(const std::string& text) {
  const bool after_user =
      !request_.messages.empty() && request_.messages.back()["role"] != "system";
  if (!text.empty() && after_user) {
    add("assistant", text);
  }
}

void ChatRecord::end_turn(const ChatRequest::Json& messages) {
  recorded_ -= bytes_of(request_.messages.back());
  request_.messages.erase(request_.messages.size() - 1);
  for (const auto& message : messages) {
    recorded_ += bytes_of(message);
    request_.messages.push_back(message);
  }
  if (recorded_ > kMostRecorded) {
    leave_out();
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
