#include "chat/tools_in_words.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mynah {
namespace {

using Json = ChatRequest::Json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// In its place: a message may be made of a hundred thousand calls or results.
void add(Json& message, std::string_view text) {
  auto& content = message["content"].get_ref<std::string&>();
  content += content.empty() ? "" : "\n\n";
  content += text;
}

std::string told(const Json& tools) {
  std::string text =
      "You can call functions. Each is described by a JSON object, with the JSON schema of its "
      "arguments:\n";
  for (const Json& tool : tools) {
    const auto function = tool.is_object() ? tool.find("function") : tool.end();
    text += text_of(tool.is_object() && function != tool.end() ? *function : tool) + "\n";
  }
  return text +
         "To call one, answer with a JSON object and nothing else: {\"name\": \"the function's "
         "name\", \"arguments\": {...}}";
}

// Calls and results of a conversation.
class Conversation {
 public:
  void take(const Json& message) {
    const std::string role = message.value("role", "");
    if (role == "tool" || role == "function") {
      take_result(message);
      return;
    }
    Json own = message;
    const auto calls = own.find("tool_calls");
    if (calls != own.end() && calls->is_array()) {
      for (const Json& call : *calls) {
        const Json& function = call["function"];
        add(own, text_of({{"name", function["name"]}, {"arguments", function["arguments"]}}));
        if (call.contains("id") && call["id"].is_string()) {
          names_[call["id"].get<std::string>()] = function["name"].get<std::string>();
        }
      }
    }
    own.erase("tool_calls");
    if (behind_result_ && role == "user") {
      add(messages_.back(), own["content"].get_ref<const std::string&>());
    } else {
      messages_.push_back(std::move(own));
    }
    behind_result_ = false;
  }

  [[nodiscard]] Json messages() && { return std::move(messages_); }

 private:
  // Many templates want users and assistants in turns: results that follow each other are one
  // message.
  void take_result(const Json& message) {
    std::string name = message.contains("name") && message["name"].is_string()
                           ? message["name"].get<std::string>()
                           : std::string();
    const auto id = message.find("tool_call_id");
    if (id != message.end() && id->is_string()) {
      const auto known = names_.find(id->get<std::string>());
      name = known == names_.end() ? name : known->second;
    }
    const std::string text = fmt::format("The function{}{} answered: {}", name.empty() ? "" : " ",
                                         name, message["content"].get_ref<const std::string&>());
    if (behind_result_) {
      add(messages_.back(), text);
    } else {
      messages_.push_back({{"role", "user"}, {"content", text}});
    }
    behind_result_ = true;
  }

  Json messages_ = Json::array();
  std::map<std::string, std::string, std::less<>> names_;  // of calls, by their ids
  bool behind_result_ = false;
};

Json calls_in_words(const Json& messages) {
  Conversation conversation;
  for (const Json& message : messages) {
    conversation.take(message);
  }
  return std::move(conversation).messages();
}

}  // namespace

Json tools_in_words(const Json& messages, const Json& tools, const TemplateTakes& takes) {
  Json all = takes.calls ? messages : calls_in_words(messages);
  if (tools.empty()) {
    return all;
  }
  const auto is_of = [](std::string_view role) {
    return [role](const Json& message) { return message["role"] == role; };
  };
  const std::string text = told(tools);
  if (const auto system = std::ranges::find_if(all, is_of("system")); system != all.end()) {
    add(*system, text);
  } else if (takes.system) {
    all.insert(all.begin(), Json{{"role", "system"}, {"content", text}});
  } else if (const auto user = std::ranges::find_if(all, is_of("user")); user != all.end()) {
    (*user)["content"] = text + "\n\n" + (*user)["content"].get<std::string>();
  }
  return all;
}

}  // namespace mynah
