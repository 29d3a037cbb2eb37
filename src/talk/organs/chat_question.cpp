#include "talk/organs/chat_question.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "talk/organs/json_number.h"

namespace mynah::talk {

namespace {

using Json = ChatRequest::Json;

bool is_of(const Json& message, std::string_view role) {
  const auto found = message.is_object() ? message.find("role") : message.end();
  return message.is_object() && found != message.end() && found->is_string() &&
         found->get_ref<const std::string&>() == role;
}

Json messages_of(const ChatRequest& request) {
  Json messages = request.messages;
  for (Json& message : messages) {
    if (message.is_object()) {
      message.erase("reasoning_content");
    }
  }
  return messages;
}

void add_choice(const ReplyChoice& choice, Json& fields) {
  // Some servers keep a seed in 32 bits, with a sign.
  constexpr uint64_t kSeeds = uint64_t{std::numeric_limits<int32_t>::max()} + 1;
  fields["temperature"] = as_written(choice.sampling.temperature);
  fields["top_p"] = as_written(choice.sampling.top_p);
  fields["seed"] = choice.seed % kSeeds;
  if (choice.sampling.presence_penalty != 0) {
    fields["presence_penalty"] = as_written(choice.sampling.presence_penalty);
  }
  if (choice.sampling.frequency_penalty != 0) {
    fields["frequency_penalty"] = as_written(choice.sampling.frequency_penalty);
  }
  if (!choice.stops.empty()) {
    fields["stop"] = choice.stops;
  }
}

void add_tools(const ChatRequest& request, Json& fields) {
  if (!request.tools.is_array() || request.tools.empty()) {
    return;
  }
  fields["tools"] = request.tools;
  if (request.one_call) {
    fields["parallel_tool_calls"] = false;
  }
  if (request.must_call) {
    fields["tool_choice"] =
        request.must_call->empty()
            ? Json("required")
            : Json{{"type", "function"}, {"function", {{"name", *request.must_call}}}};
  }
}

// What is said of thinking: OpenAI's word, and the argument that chat templates know.
void add_thinking(const ChatRequest& request, Json& fields) {
  Json arguments = request.template_arguments;
  switch (request.thinking.effort) {
    case Thinking::Effort::None:
      fields["reasoning_effort"] = "none";
      arguments["enable_thinking"] = false;
      break;
    case Thinking::Effort::On:
      arguments["enable_thinking"] = true;
      break;
    case Thinking::Effort::Minimal:
      fields["reasoning_effort"] = "minimal";
      break;
    case Thinking::Effort::Low:
      fields["reasoning_effort"] = "low";
      break;
    case Thinking::Effort::Medium:
      fields["reasoning_effort"] = "medium";
      break;
    case Thinking::Effort::High:
      fields["reasoning_effort"] = "high";
      break;
    case Thinking::Effort::AsTaught:
      break;
  }
  if (arguments.is_object() && !arguments.empty()) {
    fields["chat_template_kwargs"] = std::move(arguments);
  }
}

}  // namespace

std::string chat_question(const ChatRequest& request, const std::string& model,
                          const std::function<bool(std::string_view)>& is_refused) {
  Json fields = {{"model", model},
                 {"messages", messages_of(request)},
                 {"stream", true},
                 {"stream_options", {{"include_usage", true}}}};
  add_choice(request.choice, fields);
  add_tools(request, fields);
  add_thinking(request, fields);
  if (request.choice.most_tokens > 0) {
    // OpenAI's newer models know the second name alone, most other servers the first.
    fields[is_refused("max_tokens") ? "max_completion_tokens" : "max_tokens"] =
        request.choice.most_tokens;
  }
  for (const std::string_view field : kOptionalChatFields) {
    if (is_refused(field)) {
      fields.erase(std::string(field));
    }
  }
  return fields.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Json> without_oldest_turns(const Json& messages) {
  const auto turns =
      std::ranges::count_if(messages, [](const Json& message) { return is_of(message, "user"); });
  if (turns < 2) {
    return std::nullopt;
  }
  constexpr int kQuarter = 4;
  const auto left_out = std::max<ptrdiff_t>(1, turns / kQuarter);
  Json kept = Json::array();
  ptrdiff_t turn = 0;
  for (const Json& message : messages) {
    turn += is_of(message, "user") ? 1 : 0;
    const bool is_systems = is_of(message, "system") || is_of(message, "developer");
    if (is_systems || turn > left_out) {
      kept.push_back(message);
    }
  }
  return kept;
}

}  // namespace mynah::talk
