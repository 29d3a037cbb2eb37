#include "talk/organs/chat_chunks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "formats/json.h"
#include "talk/organs/service_answers.h"
#include "text/utf8.h"

namespace mynah::talk {

namespace {

// Far beyond what anybody listens to.
constexpr size_t kMostReplyBytes = size_t{1} << 20;

ReplyOptions options_of(uint64_t id_seed) {
  ReplyOptions options;
  options.lone_calls = false;
  options.id_seed = id_seed;
  return options;
}

const ChatRequest::Json* part(const ChatRequest::Json& object, std::string_view name) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_part(const ChatRequest::Json& object, std::string_view name) {
  const auto* const found = part(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t count_part(const ChatRequest::Json& object, std::string_view name) {
  const auto* const found = part(object, name);
  return found != nullptr && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// The delta of that call, which is the last one or a new one behind it.
CallDelta& delta_of(size_t number, ReplyDelta& delta) {
  const auto found = std::ranges::find(delta.calls, number, &CallDelta::index);
  return found != delta.calls.end() ? *found
                                    : delta.calls.emplace_back(CallDelta{
                                          .index = number, .id = {}, .name = {}, .arguments = {}});
}

bool is_object_text(const std::string& text) {
  const auto json = parse_json(text, "arguments");
  return json && json->is_object();
}

}  // namespace

ChatChunks::ChatChunks(uint64_t id_seed)
    : id_seed_(id_seed), parser_(reply_format("hermes", "think"), options_of(id_seed)) {}

Result<ChatDelta> ChatChunks::push(std::string_view data) {
  ChatDelta delta;
  const std::string_view text = trimmed(data);
  if (text == "[DONE]") {
    done_ = true;
    return delta;
  }
  MYNAH_TRY(const Json json, parse_ordered_json(text, "the reply"));
  if (!json.is_object()) {
    return fail(ErrorCode::InvalidInput,
                "wanted an object of a chat completion, found another JSON value");
  }
  if (part(json, "error") != nullptr) {
    const ServiceRefusal refusal = read_refusal(text);
    return fail(ErrorCode::Io,
                fmt::format("the server failed in the middle of the reply: {}",
                            refusal.message.empty() ? refusal.code : refusal.message));
  }
  if (model_.empty()) {
    model_ = text_part(json, "model");
  }
  if (const Json* const usage = part(json, "usage"); usage != nullptr) {
    take_usage(*usage);
  }
  const Json* const choices = part(json, "choices");
  if (choices == nullptr || !choices->is_array()) {
    return delta;
  }
  for (const Json& choice : *choices) {
    if (!choice.is_object() || count_part(choice, "index") != 0) {
      continue;
    }
    const Json* const message =
        part(choice, "delta") != nullptr ? part(choice, "delta") : part(choice, "message");
    if (message != nullptr) {
      take_message(*message, delta.said);
    }
    if (const std::string reason = text_part(choice, "finish_reason"); !reason.empty()) {
      take_end(reason);
    }
  }
  MYNAH_TRY_STATUS(check_length());
  return delta;
}

Status ChatChunks::check_length() const {
  if (reply_.message.content.size() > kMostReplyBytes ||
      reply_.message.reasoning.size() > kMostReplyBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a reply of {} bytes at most, found more", kMostReplyBytes));
  }
  return {};
}

void ChatChunks::take_message(const Json& message, ReplyDelta& delta) {
  // llama.cpp, DeepSeek and vLLM call thoughts the one, OpenRouter and newer vLLMs the other.
  for (const std::string_view name : {"reasoning_content", "reasoning"}) {
    const std::string thought = text_part(message, name);
    if (!thought.empty()) {
      reply_.message.reasoning += thought;
      delta.reasoning += thought;
      break;
    }
  }
  const Json* const content = part(message, "content");
  if (content != nullptr && content->is_string()) {
    take_text(content->get_ref<const std::string&>(), delta);
  } else if (content != nullptr && content->is_array()) {
    for (const Json& piece : *content) {
      if (text_part(piece, "type") == "text") {
        take_text(text_part(piece, "text"), delta);
      }
    }
  }
  take_text(text_part(message, "refusal"), delta);
  const Json* const calls = part(message, "tool_calls");
  if (calls != nullptr && calls->is_array()) {
    for (const Json& call : *calls) {
      take_call(call, delta);
    }
  }
}

void ChatChunks::take_text(std::string_view text, ReplyDelta& delta) {
  if (!text.empty()) {
    take_parsed(parser_.push({.text = text, .is_control = false}), delta);
  }
}

void ChatChunks::take_parsed(const ReplyDelta& parsed, ReplyDelta& delta) {
  reply_.message.content += parsed.content;
  reply_.message.reasoning += parsed.reasoning;
  delta.content += parsed.content;
  delta.reasoning += parsed.reasoning;
  for (const CallDelta& call : parsed.calls) {
    if (call.index == parsed_calls_.size()) {
      parsed_calls_.push_back(reply_.message.calls.size());
      reply_.message.calls.emplace_back();
    }
    const size_t number = parsed_calls_[call.index];
    ToolCall& whole = reply_.message.calls[number];
    whole.id += call.id;
    whole.name += call.name;
    whole.arguments += call.arguments;
    CallDelta& told = delta_of(number, delta);
    told.id += call.id;
    told.name += call.name;
    told.arguments += call.arguments;
  }
}

ChatChunks::Told* ChatChunks::call_of(int64_t index, const std::string& id, const std::string& name,
                                      ReplyDelta& delta) {
  // Ollama and Gemini give every call the same index, or none: another id is another call.
  const auto found = std::ranges::find_if(told_.rbegin(), told_.rend(), [&](const Told& told) {
    const bool same_id = id.empty() || told.id.empty() || told.id == id;
    return same_id && (index < 0 ? !id.empty() || name.empty() : told.index == index);
  });
  if (found != told_.rend()) {
    return &*found;
  }
  const size_t number = reply_.message.calls.size();
  if (number >= kMostCalls) {
    return nullptr;
  }
  ToolCall& call = reply_.message.calls.emplace_back();
  constexpr uint64_t kNineDigits = 1'000'000'000;
  call.id = id.empty() ? fmt::format("{:09}", (id_seed_ + number) % kNineDigits)
                       : id.substr(0, kMostNameBytes);
  CallDelta& added = delta_of(number, delta);
  added.id = call.id;
  return &told_.emplace_back(Told{.index = index, .id = id, .number = number});
}

void ChatChunks::take_call(const Json& call, ReplyDelta& delta) {
  const Json* const function = part(call, "function");
  const Json* const index = part(call, "index");
  if (function == nullptr) {
    return;
  }
  const std::string name = text_part(*function, "name").substr(0, kMostNameBytes);
  const bool is_counted =
      index != nullptr && index->is_number_unsigned() && index->get<uint64_t>() < kMostCalls;
  Told* const told =
      call_of(is_counted ? index->get<int64_t>() : -1, text_part(call, "id"), name, delta);
  if (told == nullptr) {
    return;
  }
  ToolCall& whole = reply_.message.calls[told->number];
  if (whole.name.empty() && !name.empty()) {
    whole.name = name;
    delta_of(told->number, delta).name = name;
  }
  const Json* const arguments = part(*function, "arguments");
  if (arguments != nullptr && arguments->is_string()) {
    add_arguments(*told, arguments->get_ref<const std::string&>(), delta);
  } else if (arguments != nullptr && arguments->is_object()) {
    add_arguments(*told, arguments->dump(-1, ' ', false, Json::error_handler_t::replace), delta);
  }
}

void ChatChunks::add_arguments(Told& told, std::string_view arguments, ReplyDelta& delta) {
  std::string& whole = reply_.message.calls[told.number].arguments;
  if (told.spoilt || arguments.empty()) {
    return;
  }
  if (arguments.size() > kMostArgumentBytes - whole.size()) {
    told.spoilt = true;
    return;
  }
  whole += arguments;
  delta_of(told.number, delta).arguments += arguments;
}

void ChatChunks::take_usage(const Json& usage) {
  reply_.spent.prompt_tokens = count_part(usage, "prompt_tokens");
  reply_.spent.tokens = count_part(usage, "completion_tokens");
  if (const Json* const prompt = part(usage, "prompt_tokens_details"); prompt != nullptr) {
    reply_.spent.cached_tokens = count_part(*prompt, "cached_tokens");
  }
  if (const Json* const written = part(usage, "completion_tokens_details"); written != nullptr) {
    reply_.thought_tokens = count_part(*written, "reasoning_tokens");
  }
}

void ChatChunks::take_end(std::string_view reason) {
  ended_ = true;
  if (reason == "length") {
    reply_.end = ReplyEnd::Length;
  } else if (reason == "tool_calls" || !reply_.message.calls.empty()) {
    reply_.end = ReplyEnd::Calls;
  } else if (reason == "content_filter") {
    reply_.notes.push_back(
        {.code = "content_filter", .text = "the server cut the reply by its filter of contents"});
  }
}

ChatDelta ChatChunks::finish() {
  ChatDelta delta;
  take_parsed(parser_.finish(), delta.said);
  for (size_t i = 0; i < parsed_calls_.size(); ++i) {
    reply_.message.calls[parsed_calls_[i]].valid = parser_.message().calls[i].valid;
  }
  for (Told& told : told_) {
    ToolCall& call = reply_.message.calls[told.number];
    if (call.arguments.empty()) {
      add_arguments(told, "{}", delta.said);  // a function without parameters
    }
    call.valid = !told.spoilt && !call.name.empty() && is_object_text(call.arguments);
  }
  if (!reply_.message.calls.empty() && reply_.end == ReplyEnd::Whole) {
    reply_.end = ReplyEnd::Calls;
  }
  return delta;
}

}  // namespace mynah::talk
