#include "server/chat/responses_request.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/chat/chat_fields.h"
#include "server/chat/sampling_fields.h"
#include "server/http/json_members.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr Field refused(std::string_view name, std::string_view help) {
  return {.name = name, .type = FieldType::Any, .help = help};
}

constexpr std::array<Field, 23> kOwnFields = {
    {{.name = "input",
      .type = FieldType::Any,
      .help = "A text, or a list of messages, calls and their results."},
     {.name = "instructions", .help = "What the model is told before all else."},
     kChatModel,
     kChatStream,
     kTools,
     kToolChoice,
     kSeveralCalls,
     {.name = "text",
      .type = FieldType::Any,
      .help = "An object; its format is what response_format is to chat completions."},
     kReasoning,
     kThinkingBudget,
     kTruncation,
     {.name = "max_output_tokens",
      .type = FieldType::Whole,
      .help = "Of the reply; none: as many as there is room for.",
      .least = 1,
      .most = kMostTokens},
     kUser,
     kCacheKey,
     refused("previous_response_id", "Refused: no conversation is kept here."),
     refused("conversation", "Refused: no conversation is kept here."),
     refused("background", "True is refused: an answer is not kept."),
     ignored_field("store"),
     ignored_field("metadata"),
     ignored_field("include"),
     ignored_field("service_tier"),
     ignored_field("safety_identifier"),
     ignored_field("stream_options")}};

constexpr auto kResponsesTable = joined(kOwnFields, kSamplingFields);

// Tools have their functions' fields in themselves here.
std::expected<Json, FieldError> read_flat_tools(const Json* tools) {
  if (tools == nullptr || !tools->is_array()) {
    return read_tools(tools);
  }
  Json nested = Json::array();
  for (size_t i = 0; i < tools->size(); ++i) {
    const Json& tool = (*tools)[i];
    if (!tool.is_object() || !tool.contains("type") || tool["type"] != "function") {
      return wrong_field("tools",
                         fmt::format("tools[{}]: wanted a function, found {}", i, shortened(tool)));
    }
    Json function = tool;
    function.erase("type");
    nested.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return read_tools(&nested);
}

std::string text_in(const Json& item, const char* name) {
  const auto found = item.find(name);
  return found == item.end()  ? std::string()
         : found->is_string() ? found->get<std::string>()
                              : json_text(*found);
}

// Messages, calls and results as messages alone.
std::expected<Json, FieldError> messages_of(const Json* input, const std::string& instructions) {
  Json messages = Json::array();
  if (!instructions.empty()) {
    messages.push_back({{"role", "system"}, {"content", instructions}});
  }
  if (input != nullptr && input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
    return messages;
  }
  if (input == nullptr || !input->is_array() || input->empty()) {
    return wrong_field("input", "input: wanted a text, or a list of messages");
  }
  for (size_t i = 0; i < input->size(); ++i) {
    const Json& item = (*input)[i];
    if (!item.is_object()) {
      return wrong_field("input",
                         fmt::format("input[{}]: wanted an object, found {}", i, shortened(item)));
    }
    const std::string type = item.contains("type") ? text_in(item, "type") : "message";
    if (type == "message") {
      if (auto known = check_role(item, fmt::format("input[{}]", i)); !known) {
        known.error().field = "input";
        return std::unexpected(std::move(known).error());
      }
      messages.push_back(
          {{"role", text_in(item, "role")}, {"content", item.value("content", Json(""))}});
    } else if (type == "function_call") {
      if (messages.empty() || !messages.back().contains("tool_calls")) {
        messages.push_back({{"role", "assistant"}, {"content", ""}});
      }
      messages.back()["tool_calls"].push_back(
          {{"id", text_in(item, "call_id")},
           {"type", "function"},
           {"function",
            {{"name", text_in(item, "name")}, {"arguments", text_in(item, "arguments")}}}});
    } else if (type == "function_call_output") {
      messages.push_back({{"role", "tool"},
                          {"tool_call_id", text_in(item, "call_id")},
                          {"content", text_in(item, "output")}});
    } else if (type != "reasoning") {
      return wrong_field("input", fmt::format("input[{}]: wanted a message, a function_call or a "
                                              "function_call_output, found '{}'",
                                              i, type));
    }
  }
  return messages;
}

// As clients write it: 0.7, not the digits of the double nearest to the float.
double as_written(float value) {
  return std::stod(fmt::format("{}", value));
}

// text.format and reasoning.effort.
std::expected<void, FieldError> read_objects(const FieldValues& values, const ToolChoice& choice,
                                             CompletionRequest& request) {
  std::optional<grammar::ConstraintSource> answer;
  if (const Json* const text = values.find("text"); text != nullptr && text->is_object()) {
    MYNAH_TRY(const Json* const format, Members(*text, "text.").object("format"));
    MYNAH_TRY(answer, read_response_format(format));
  }
  MYNAH_TRY(request.chat.thinking, read_thinking(values));
  request.chat.thinking.most_tokens = static_cast<int64_t>(
      values.number("thinking_budget", static_cast<double>(request.chat.thinking.most_tokens)));
  request.chat.too_long = values.text("truncation") == "auto" ? TooLong::LeaveOut : TooLong::Refuse;
  MYNAH_TRY(AnswerRules rules, answer_rules(request.chat.tools, choice, std::move(answer)));
  apply(std::move(rules), choice, request);
  return {};
}

}  // namespace

FieldTable responses_fields() {
  return kResponsesTable;
}

std::expected<ResponsesRequest, FieldError> parse_responses(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kResponsesTable, sent));
  for (const char* const kept : {"previous_response_id", "conversation", "background"}) {
    const Json* const found = values.find(kept);
    if (found != nullptr && *found != false) {
      return wrong_field(kept, fmt::format("{}: nothing is kept here from one request to the next; "
                                           "wanted the whole conversation as input",
                                           kept));
    }
  }
  ResponsesRequest request;
  CompletionRequest& completion = request.completion;
  completion.model = values.text("model");
  completion.stream = values.flag("stream", false);
  MYNAH_TRY(completion.chat.choice, read_choice(values));
  completion.chat.choice.most_tokens = static_cast<int64_t>(values.number("max_output_tokens", 0));
  completion.chat.conversation = json_text({values.text("user"), values.text("prompt_cache_key")});
  MYNAH_TRY(completion.chat.messages,
            messages_of(values.find("input"), values.text("instructions")));
  MYNAH_TRY(completion.chat.tools, read_flat_tools(values.find("tools")));
  MYNAH_TRY(const ToolChoice choice, read_tool_choice(values.find("tool_choice")));
  MYNAH_TRY_STATUS(read_objects(values, choice, completion));
  // Small models that must call write the same call again and again.
  completion.chat.one_call =
      !values.flag("parallel_tool_calls", !completion.chat.must_call.has_value());
  const auto repeat = [&](const char* name, const Json& initial) {
    const Json* const found = values.find(name);
    request.echoed[name] = found == nullptr ? initial : *found;
  };
  repeat("instructions", nullptr);
  repeat("max_output_tokens", nullptr);
  repeat("metadata", Json::object());
  repeat("parallel_tool_calls", true);
  repeat("reasoning", {{"effort", nullptr}, {"summary", nullptr}});
  repeat("temperature", as_written(completion.chat.choice.sampling.temperature));
  repeat("text", {{"format", {{"type", "text"}}}});
  repeat("tool_choice", "auto");
  repeat("tools", Json::array());
  repeat("truncation", "disabled");
  repeat("top_p", as_written(completion.chat.choice.sampling.top_p));
  repeat("user", nullptr);
  return request;
}

}  // namespace mynah::server
