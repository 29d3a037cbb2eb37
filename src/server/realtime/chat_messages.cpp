#include "server/realtime/chat_messages.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "server/realtime/conversation.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSilence = "...";

std::string member_text(const Json& item, const char* name) {
  const auto found = item.find(name);
  return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_role(const Json& message, std::string_view role) {
  return message["role"] == role;
}

class Messages {
 public:
  explicit Messages(const std::string& instructions) {
    if (!instructions.empty()) {
      all_.push_back({{"role", "system"}, {"content", instructions}});
    }
  }

  void add_said(const std::string& role, const std::string& text) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      return;
    }
    const bool goes_on =
        !all_.empty() && is_role(all_.back(), role) && !all_.back().contains("tool_calls");
    if (!goes_on) {
      all_.push_back({{"role", role}, {"content", text}});
      return;
    }
    all_.back()["content"] = all_.back()["content"].get<std::string>() + "\n" + text;
  }

  void add_call(const Json& item) {
    // What was said with it is one message with it.
    if (all_.empty() || !is_role(all_.back(), "assistant")) {
      all_.push_back({{"role", "assistant"}, {"content", ""}});
    }
    all_.back()["tool_calls"].push_back(
        {{"id", member_text(item, "call_id")},
         {"type", "function"},
         {"function",
          {{"name", member_text(item, "name")}, {"arguments", member_text(item, "arguments")}}}});
  }

  void add_result(const Json& item) {
    const std::string id = member_text(item, "call_id");
    const auto calls = [&id](const Json& message) {
      return message.contains("tool_calls") &&
             std::ranges::any_of(message["tool_calls"],
                                 [&id](const Json& call) { return call["id"] == id; });
    };
    const auto from_end = std::find_if(all_.rbegin(), all_.rend(), calls);
    if (from_end == all_.rend()) {
      return;
    }
    const auto place = std::find_if(from_end.base(), all_.end(),
                                    [](const Json& message) { return !is_role(message, "tool"); });
    all_.insert(
        place,
        Json{{"role", "tool"}, {"tool_call_id", id}, {"content", member_text(item, "output")}});
  }

  [[nodiscard]] Json take() { return std::move(all_); }

 private:
  Json::array_t all_;
};

}  // namespace

Json chat_messages(std::span<const Json> items, const std::string& instructions) {
  Messages messages(instructions);
  for (const Json& item : items) {
    const std::string type = member_text(item, "type");
    const bool broken_off = member_text(item, "status") == "incomplete";
    if (type == "function_call" && !broken_off) {
      messages.add_call(item);
    } else if (type == "function_call_output") {
      messages.add_result(item);
    } else if (type == "message") {
      std::string text = text_of_item(item);
      const bool is_last_of_user = member_text(item, "role") == "user" && &item == &items.back();
      messages.add_said(member_text(item, "role"),
                        text.empty() && is_last_of_user ? kSilence : std::move(text));
    }
  }
  return messages.take();
}

}  // namespace mynah::server
