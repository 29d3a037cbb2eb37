#include "server/compat/ollama_request.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "server/chat/sampling_fields.h"
#include "server/http/json_text.h"
#include "server/http/passed_over.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr Field kWritingModel = {
    .name = "model",
    .help = "A model that is here and writes, with or without a tag; none: the default."};
constexpr Field kLineStream = {.name = "stream",
                               .type = FieldType::Flag,
                               .help = "True: a line of JSON whenever there is more text."};
constexpr Field kReplyFormat = {.name = "format",
                                .type = FieldType::Any,
                                .help = "json, or a JSON schema that the reply keeps to."};
constexpr Field kThink = {.name = "think",
                          .type = FieldType::Any,
                          .help =
                              "Whether models that can think do so: true, false, low, medium, "
                              "high."};
constexpr Field kOptions = {
    .name = "options",
    .type = FieldType::Any,
    .help =
        "An object: temperature, top_k, top_p, min_p, typical_p, repeat_penalty, "
        "repeat_last_n, presence_penalty, frequency_penalty, seed, stop, num_predict, num_ctx."};

constexpr Field kTruncate = {.name = "truncate",
                             .type = FieldType::Flag,
                             .help =
                                 "False: a conversation without room is refused; else its "
                                 "oldest turns are left out, and it is said."};

constexpr std::array<Field, 8> kChatFields = {
    {kWritingModel,
     {.name = "messages",
      .type = FieldType::Any,
      .help = "A list of {role, content}; none: the model is opened, or let go."},
     {.name = "tools", .type = FieldType::Any, .help = "Functions that the model may call."},
     kLineStream,
     kReplyFormat,
     kThink,
     kTruncate,
     kOptions}};

constexpr std::array<Field, 12> kGenerateFields = {
    {kWritingModel,
     {.name = "prompt", .help = "What the user says; none: the model is opened, or let go."},
     {.name = "system", .help = "What the model is told before."},
     {.name = "raw",
      .type = FieldType::Flag,
      .help = "The prompt is gone on with as it is, without the model's chat template."},
     kLineStream,
     kReplyFormat,
     kThink,
     kTruncate,
     kOptions,
     {.name = "suffix", .help = "Refused: nothing is written between two texts."},
     {.name = "images", .type = FieldType::Any, .help = "Refused: no model here sees."},
     ignored_field("context")}};

// Options of their own beside those of sampling; of the rest it is the server that says.
constexpr std::array<Field, 2> kOwnOptions = {
    {{.name = "num_predict",
      .type = FieldType::Whole,
      .help = "Tokens of the reply; none and below 0: as many as there is room for.",
      .least = -kMostTokens,
      .most = kMostTokens},
     {.name = "num_ctx",
      .type = FieldType::Whole,
      .help = "Tokens of context that the client counts on.",
      .most = kMostTokens}}};

constexpr auto kOptionTable = joined(kOwnOptions, kSamplingFields);

std::expected<void, FieldError> read_options(const Json* options, OllamaRequest& request) {
  if (options != nullptr && !options->is_object()) {
    return wrong_field("options",
                       fmt::format("options: wanted an object, found {}", shortened(*options)));
  }
  const std::string text = options == nullptr ? "{}" : json_text(*options);
  const SentJson sent(text);
  auto values = FieldValues::of_json(kOptionTable, sent);
  if (!values) {
    FieldError error = std::move(values).error();
    error.error = std::move(error.error).while_doing("options");
    return std::unexpected(std::move(error));
  }
  ReplyChoice& choice = request.completion.chat.choice;
  MYNAH_TRY(choice, read_choice(*values));
  choice.most_tokens = std::max<int64_t>(0, static_cast<int64_t>(values->number("num_predict", 0)));
  if (values->number("num_ctx", 0) > 0) {
    request.context = static_cast<int64_t>(values->number("num_ctx", 0));
  }
  for (const auto& [name, value] : sent.object.items()) {
    if (std::ranges::find(kOptionTable, name, &Field::name) == kOptionTable.end()) {
      request.completion.ignored.push_back(header_item("options." + name));
    }
  }
  return {};
}

std::expected<void, FieldError> read_think(const Json* think, OllamaRequest& request) {
  if (think == nullptr) {
    return {};
  }
  Thinking::Effort& effort = request.completion.chat.thinking.effort;
  if (think->is_boolean()) {
    effort = think->get<bool>() ? Thinking::Effort::On : Thinking::Effort::None;
    return {};
  }
  if (*think == "low" || *think == "medium" || *think == "high") {
    effort = *effort_of(think->get_ref<const std::string&>());
    return {};
  }
  return wrong_field("think", fmt::format("think: wanted true, false, low, medium or high, found "
                                          "{}",
                                          shortened(*think)));
}

// What clients send for a field that they do not want.
bool is_empty_text(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().empty();
}

std::expected<std::optional<grammar::ConstraintSource>, FieldError> read_format(
    const Json* format) {
  if (format == nullptr || is_empty_text(*format)) {
    return std::nullopt;
  }
  if (*format == "json") {
    return grammar::ConstraintSource{};
  }
  if (format->is_object()) {
    return schema_source(*format);
  }
  return wrong_field(
      "format", fmt::format("format: wanted json, or a JSON schema, found {}", shortened(*format)));
}

// What both requests have.
std::expected<OllamaRequest, FieldError> ollama_request_of(const FieldValues& values,
                                                           const Json* tools) {
  OllamaRequest request;
  request.completion.model = values.text("model");
  request.completion.stream = values.flag("stream", true);
  MYNAH_TRY_STATUS(read_options(values.find("options"), request));
  MYNAH_TRY_STATUS(read_think(values.find("think"), request));
  ChatRequest& chat = request.completion.chat;
  chat.context = request.context.value_or(0);
  chat.too_long = values.flag("truncate", true) ? TooLong::LeaveOut : TooLong::Refuse;
  MYNAH_TRY(request.completion.chat.tools, read_tools(tools));
  MYNAH_TRY(auto format, read_format(values.find("format")));
  MYNAH_TRY(AnswerRules rules,
            answer_rules(request.completion.chat.tools, ToolChoice{}, std::move(format)));
  apply(std::move(rules), ToolChoice{}, request.completion);
  return request;
}

// Messages as OpenAI's API has them. Calls and their results have no ids here; templates want some,
// and Mistral's nine characters.
class OpenAiMessages {
 public:
  std::expected<Json, FieldError> of(const Json& messages) {
    Json all = Json::array();
    for (size_t i = 0; i < messages.size(); ++i) {
      const Json& message = messages[i];
      MYNAH_TRY_STATUS(check_role(message, fmt::format("messages[{}]", i)));
      if (message.contains("images") && !message["images"].empty()) {
        return wrong_field("messages", fmt::format("messages[{}].images: no model here sees", i));
      }
      all.push_back(one(message));
    }
    return all;
  }

 private:
  Json one(const Json& message) {
    Json told = Json::object();
    for (const auto& [name, value] : message.items()) {
      if (name == "thinking") {
        told["reasoning_content"] = value;
      } else if (name == "tool_name") {
        told["name"] = value;
      } else if (name != "images") {
        told[name] = value;
      }
    }
    if (told.contains("tool_calls") && told["tool_calls"].is_array()) {
      for (Json& call : told["tool_calls"]) {
        if (call.is_object() && !call.contains("id")) {
          called_.push_back(fmt::format("{:09}", ++count_));
          call["id"] = called_.back();
          call["type"] = "function";
        }
      }
    }
    if (told.contains("role") && told["role"] == "tool" && !told.contains("tool_call_id") &&
        !called_.empty()) {
      told["tool_call_id"] = called_.front();
      called_.pop_front();
    }
    return told;
  }

  std::deque<std::string> called_;  // ids of calls whose results did not come yet
  int count_ = 0;
};

}  // namespace

FieldTable ollama_chat_fields() {
  return kChatFields;
}

FieldTable ollama_generate_fields() {
  return kGenerateFields;
}

std::expected<OllamaRequest, FieldError> parse_ollama_chat(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kChatFields, sent));
  MYNAH_TRY(OllamaRequest request, ollama_request_of(values, values.find("tools")));
  const Json* const messages = values.find("messages");
  if (messages != nullptr && !messages->is_array()) {
    return wrong_field("messages",
                       fmt::format("messages: wanted a list, found {}", shortened(*messages)));
  }
  request.loads_only = messages == nullptr || messages->empty();
  if (!request.loads_only) {
    MYNAH_TRY(request.completion.chat.messages, OpenAiMessages().of(*messages));
  }
  return request;
}

std::expected<OllamaRequest, FieldError> parse_ollama_generate(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kGenerateFields, sent));
  MYNAH_TRY(OllamaRequest request, ollama_request_of(values, nullptr));
  for (const char* const refused : {"suffix", "images"}) {
    const Json* const found = values.find(refused);
    if (found != nullptr && !found->empty() && !is_empty_text(*found)) {
      return wrong_field(refused, fmt::format("{}: not done here: wanted none", refused));
    }
  }
  CompletionRequest& completion = request.completion;
  const std::string prompt = values.text("prompt");
  request.loads_only = prompt.empty();
  if (values.flag("raw", false)) {
    completion.texts = {prompt};
    return request;
  }
  if (const std::string system = values.text("system"); !system.empty()) {
    completion.chat.messages.push_back({{"role", "system"}, {"content", system}});
  }
  completion.chat.messages.push_back({{"role", "user"}, {"content", prompt}});
  return request;
}

}  // namespace mynah::server
