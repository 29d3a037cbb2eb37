#include "server/chat/completion_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/chat/chat_fields.h"
#include "server/chat/sampling_fields.h"
#include "server/http/json_members.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostAlternatives = 20;

constexpr Field kStreamOptions = {
    .name = "stream_options",
    .type = FieldType::Any,
    .help = "An object; its include_usage has a last event tell the tokens."};
constexpr Field kMaxTokens = {.name = "max_tokens",
                              .type = FieldType::Whole,
                              .help = "Of the reply; none and -1: as many as there is room for.",
                              .least = -1,
                              .most = kMostTokens};
constexpr Field kCount = {.name = "n",
                          .type = FieldType::Whole,
                          .help =
                              "Replies to the same, eight of them at a time; the prompt is "
                              "read once.",
                          .least = 1,
                          .most = 128};
constexpr Field kBias = {
    .name = "logit_bias",
    .type = FieldType::Any,
    .help =
        "An object: the model's tokens by number, and what is added to each from -100 to "
        "100; -100: it comes only where nothing else may."};
constexpr Field kRepetition = {.name = "repetition_penalty",
                               .type = FieldType::Number,
                               .help = "repeat_penalty, as others call it.",
                               .least = 0.01,
                               .most = 10};
constexpr Field kGrammar = {
    .name = "grammar", .help = "A grammar (GBNF) that the reply keeps to, as llama.cpp has it."};
constexpr Field kSchema = {.name = "json_schema",
                           .type = FieldType::Any,
                           .help = "A JSON schema that it keeps to, as llama.cpp has it."};

constexpr std::array<Field, 31> kChatFields = {
    {{.name = "messages",
      .type = FieldType::Any,
      .help = "A list of {role, content}; parts of content may be text and input_audio, which is "
              "heard."},
     kChatModel,
     kChatStream,
     kStreamOptions,
     kTools,
     kToolChoice,
     kSeveralCalls,
     {.name = "response_format",
      .type = FieldType::Any,
      .help = "An object; its type is text, json_object, or json_schema with a schema that the "
              "reply keeps to."},
     kGrammar,
     kSchema,
     kMaxTokens,
     {.name = "max_completion_tokens",
      .type = FieldType::Whole,
      .help = "The same, as newer clients call it.",
      .least = -1,
      .most = kMostTokens},
     kCount,
     {.name = "logprobs",
      .type = FieldType::Flag,
      .help = "Whether each token's log probability is told."},
     {.name = "top_logprobs",
      .type = FieldType::Whole,
      .help = "The likeliest tokens that are told beside it.",
      .most = kMostAlternatives},
     kBias,
     kRepetition,
     {.name = "chat_template_kwargs",
      .type = FieldType::Any,
      .help = "An object: arguments of the model's chat template."},
     {.name = "reasoning_effort",
      .help = "How much models that can think do so.",
      .choices = "none minimal low medium high xhigh"},
     kReasoning,
     kThinkingBudget,
     kTruncation,
     kUser,
     kCacheKey,
     ignored_field("store"),
     ignored_field("metadata"),
     ignored_field("service_tier"),
     ignored_field("verbosity"),
     ignored_field("modalities"),
     ignored_field("safety_identifier"),
     ignored_field("cache_prompt")}};

constexpr std::array<Field, 15> kTextFields = {
    {{.name = "prompt",
      .type = FieldType::Any,
      .help = "A text to go on with, or a list of texts, each with its own choice."},
     kChatModel,
     kChatStream,
     kStreamOptions,
     kMaxTokens,
     kCount,
     {.name = "logprobs",
      .type = FieldType::Whole,
      .help = "The likeliest tokens that are told beside each.",
      .most = kMostAlternatives},
     {.name = "echo", .type = FieldType::Flag, .help = "Whether the text is told in front."},
     kBias,
     kRepetition,
     kGrammar,
     kSchema,
     kUser,
     kCacheKey,
     ignored_field("best_of")}};

constexpr auto kChatTable = joined(kChatFields, kSamplingFields);
constexpr auto kTextTable = joined(kTextFields, kSamplingFields);

std::expected<std::vector<TokenBias>, FieldError> read_bias(const Json* bias) {
  constexpr const char* kField = "logit_bias";
  constexpr double kMost = 100;
  std::vector<TokenBias> all;
  if (bias == nullptr) {
    return all;
  }
  if (!bias->is_object()) {
    return wrong_field(kField, fmt::format("logit_bias: wanted an object such as {{\"42\": -100}}, "
                                           "found {}",
                                           shortened(*bias)));
  }
  for (const auto& [token, value] : bias->items()) {
    constexpr size_t kMostDigits = 9;
    const bool is_token = !token.empty() && token.size() <= kMostDigits &&
                          (token.size() == 1 || token.front() != '0') &&
                          std::ranges::all_of(token, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_token || !value.is_number() || std::abs(value.get<double>()) > kMost) {
      return wrong_field(kField, fmt::format("logit_bias: wanted a token's number and a number "
                                             "from -100 to 100, found {}: {}",
                                             shortened(token), shortened(value)));
    }
    // The least that can be said is OpenAI's "ban": below what any model tells tokens apart by, and
    // no infinity, so that a form whose tokens are all banned is kept to all the same.
    constexpr float kBan = -1e4F;
    all.push_back({.token = std::stoi(token),
                   .bias = value.get<double>() == -kMost ? kBan : value.get<float>()});
  }
  return all;
}

std::expected<std::optional<grammar::ConstraintSource>, FieldError> read_answer(
    const FieldValues& values, const Json* format) {
  MYNAH_TRY(auto answer, read_response_format(format));
  const auto take = [&answer](const char* field,
                              grammar::ConstraintSource source) -> std::expected<void, FieldError> {
    if (answer) {
      return wrong_field(field, fmt::format("{}: wanted one of response_format, json_schema and "
                                            "grammar",
                                            field));
    }
    answer = std::move(source);
    return {};
  };
  if (const Json* const schema = values.find("json_schema")) {
    MYNAH_TRY_STATUS(take("json_schema", schema_source(*schema)));
  }
  if (std::string text = values.text("grammar"); !text.empty()) {
    MYNAH_TRY_STATUS(take("grammar", {.kind = grammar::ConstraintSource::Kind::Gbnf,
                                      .text = std::move(text),
                                      .choices = {},
                                      .schema = {}}));
  }
  return answer;
}

// 0: as many as there is room for.
std::expected<int64_t, FieldError> read_most_tokens(const FieldValues& values, const char* field) {
  const auto most = static_cast<int64_t>(values.number(field, -1));
  if (most == 0) {
    return wrong_field(field, fmt::format("{}: wanted 1 at least, found 0", field));
  }
  return std::max<int64_t>(0, most);
}

// What both requests have.
std::expected<CompletionRequest, FieldError> request_of(const FieldValues& values) {
  CompletionRequest request;
  request.model = values.text("model");
  request.stream = values.flag("stream", false);
  if (const Json* const options = values.find("stream_options");
      options != nullptr && options->is_object() && options->contains("include_usage")) {
    request.with_usage = (*options)["include_usage"] == true;
  }
  request.replies = static_cast<int>(values.number("n", 1));
  MYNAH_TRY(request.chat.choice, read_choice(values));
  ReplyChoice& choice = request.chat.choice;
  MYNAH_TRY(choice.sampling.logit_bias, read_bias(values.find("logit_bias")));
  choice.sampling.repetition_penalty =
      static_cast<float>(values.number("repetition_penalty", choice.sampling.repetition_penalty));
  MYNAH_TRY(choice.most_tokens, read_most_tokens(values, "max_tokens"));
  // Each is told from the other, whatever a client puts into them.
  request.chat.conversation = json_text({values.text("user"), values.text("prompt_cache_key")});
  return request;
}

// A text, or a list of texts that each are gone on with.
std::expected<std::vector<std::string>, FieldError> read_prompts(const Json* prompt) {
  constexpr size_t kMostPrompts = 32;
  const Json all = prompt == nullptr    ? Json::array()
                   : prompt->is_array() ? *prompt
                                        : Json::array({*prompt});
  std::vector<std::string> texts;
  for (const Json& one : all) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty()) {
      return wrong_field(
          "prompt",
          fmt::format("prompt: wanted a text, or a list of texts, found {}", shortened(one)));
    }
    texts.push_back(one.get<std::string>());
  }
  if (texts.empty() || texts.size() > kMostPrompts) {
    return wrong_field(
        "prompt", fmt::format("prompt: wanted a text, or a list of 1 to {}, found {}", kMostPrompts,
                              texts.size()));
  }
  return texts;
}

}  // namespace

FieldTable chat_completion_fields() {
  return kChatTable;
}

FieldTable completion_fields() {
  return kTextTable;
}

std::optional<Thinking::Effort> effort_of(std::string_view word) {
  using Effort = Thinking::Effort;
  constexpr std::array<std::pair<std::string_view, Effort>, 6> kWords = {
      {{"none", Effort::None},
       {"minimal", Effort::Minimal},
       {"low", Effort::Low},
       {"medium", Effort::Medium},
       {"high", Effort::High},
       {"xhigh", Effort::High}}};
  const auto* const known =
      std::ranges::find(kWords, word, &std::pair<std::string_view, Effort>::first);
  return known == kWords.end() ? std::nullopt : std::optional(known->second);
}

std::expected<Thinking, FieldError> read_thinking(const FieldValues& values) {
  Thinking thinking;
  const auto take_effort = [&](const std::string& word,
                               const std::string& field) -> std::expected<void, FieldError> {
    const auto effort = effort_of(word);
    if (!word.empty() && !effort) {
      return wrong_field(field, fmt::format("{}: wanted none, minimal, low, medium, high or xhigh, "
                                            "found '{}'",
                                            field, word));
    }
    thinking.effort = effort.value_or(thinking.effort);
    return {};
  };
  const Json* const reasoning = values.find("reasoning");
  if (reasoning != nullptr && !reasoning->is_object()) {
    return wrong_field("reasoning",
                       fmt::format("reasoning: wanted an object, found {}", shortened(*reasoning)));
  }
  if (reasoning != nullptr) {
    const Members members(*reasoning, "reasoning.");
    MYNAH_TRY(const bool is_on, members.flag("enabled", true));
    MYNAH_TRY(const double most, members.number("max_tokens", -1, kMostTokens, -1));
    MYNAH_TRY(const std::string effort, members.text("effort"));
    thinking.effort = is_on ? thinking.effort : Thinking::Effort::None;
    thinking.most_tokens = static_cast<int64_t>(most);
    MYNAH_TRY_STATUS(take_effort(effort, "reasoning.effort"));
  }
  return thinking;
}

void apply(AnswerRules rules, const ToolChoice& choice, CompletionRequest& request) {
  if (choice.kind == ToolChoice::Kind::None) {
    request.chat.tools = Json::array();
  }
  request.chat.constraint = std::exchange(rules.constraint, std::nullopt);
  request.chat.must_call = rules.must_call;
  request.rules = std::move(rules);
}

std::expected<void, FieldError> check_role(const Json& message, const std::string& where) {
  constexpr std::array<std::string_view, 6> kRoles = {"system",    "developer", "user",
                                                      "assistant", "tool",      "function"};
  const auto role = message.is_object() ? message.find("role") : message.end();
  if (!message.is_object() || role == message.end() || !role->is_string() ||
      std::ranges::find(kRoles, role->get_ref<const std::string&>()) == kRoles.end()) {
    return wrong_field("messages",
                       fmt::format("{}: wanted an object with the role system, developer, user, "
                                   "assistant or tool, found {}",
                                   where, shortened(message)));
  }
  return {};
}

std::expected<void, FieldError> check_messages(const Json* messages) {
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    return wrong_field("messages", "messages: wanted a list of one message at least");
  }
  bool may_answer = false;  // calls of an assistant stand before, with nothing but results between
  for (size_t i = 0; i < messages->size(); ++i) {
    const Json& message = (*messages)[i];
    const std::string where = fmt::format("messages[{}]", i);
    MYNAH_TRY_STATUS(check_role(message, where));
    const auto& role = message["role"].get_ref<const std::string&>();
    const bool is_silent = !message.contains("content") || message["content"].is_null();
    if (role == "assistant") {
      may_answer = message.contains("tool_calls") && !message["tool_calls"].empty();
      continue;
    }
    if (is_silent) {
      return wrong_field("messages", fmt::format("{}: wanted a content, found none", where));
    }
    if (role == "tool" && !may_answer) {
      return wrong_field("messages", fmt::format("{}: wanted an assistant's message with "
                                                 "tool_calls before what a tool answers",
                                                 where));
    }
    may_answer = may_answer && role == "tool";
  }
  return {};
}

std::expected<CompletionRequest, FieldError> parse_chat_completion(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kChatTable, sent));
  MYNAH_TRY(CompletionRequest request, request_of(values));
  const Json* const messages = values.find("messages");
  MYNAH_TRY_STATUS(check_messages(messages));
  request.chat.messages = *messages;
  if (values.has("max_completion_tokens")) {
    MYNAH_TRY(request.chat.choice.most_tokens, read_most_tokens(values, "max_completion_tokens"));
  }
  if (values.flag("logprobs", false)) {
    request.chat.choice.alternatives = static_cast<int32_t>(values.number("top_logprobs", 0));
  } else if (values.number("top_logprobs", 0) > 0) {
    return wrong_field("top_logprobs", "top_logprobs: wanted logprobs true beside it");
  }
  MYNAH_TRY(request.chat.tools, read_tools(values.find("tools")));
  MYNAH_TRY(const ToolChoice choice, read_tool_choice(values.find("tool_choice")));
  MYNAH_TRY(auto answer, read_answer(values, values.find("response_format")));
  MYNAH_TRY(AnswerRules rules, answer_rules(request.chat.tools, choice, std::move(answer)));
  apply(std::move(rules), choice, request);
  // Small models that must call write the same call again and again.
  request.chat.one_call = !values.flag("parallel_tool_calls", !request.chat.must_call.has_value());
  MYNAH_TRY(request.chat.thinking, read_thinking(values));
  if (const auto effort = effort_of(values.text("reasoning_effort"))) {
    request.chat.thinking.effort = *effort;
  }
  request.chat.thinking.most_tokens = static_cast<int64_t>(
      values.number("thinking_budget", static_cast<double>(request.chat.thinking.most_tokens)));
  request.chat.too_long = values.text("truncation") == "auto" ? TooLong::LeaveOut : TooLong::Refuse;
  if (const Json* const arguments = values.find("chat_template_kwargs")) {
    if (!arguments->is_object()) {
      return wrong_field(
          "chat_template_kwargs",
          fmt::format("chat_template_kwargs: wanted an object, found {}", shortened(*arguments)));
    }
    request.chat.template_arguments.update(*arguments);
  }
  return request;
}

std::expected<CompletionRequest, FieldError> parse_completion(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kTextTable, sent));
  MYNAH_TRY(CompletionRequest request, request_of(values));
  MYNAH_TRY(request.texts, read_prompts(values.find("prompt")));
  request.echo = values.flag("echo", false);
  request.chat.choice.alternatives = static_cast<int32_t>(values.number("logprobs", -1));
  MYNAH_TRY(request.chat.constraint, read_answer(values, nullptr));
  return request;
}

}  // namespace mynah::server
