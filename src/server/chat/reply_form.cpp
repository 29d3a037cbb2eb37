#include "server/chat/reply_form.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Bytes of a token, which may be a part of a character's.
Json bytes_json(std::string_view text) {
  Json bytes = Json::array();
  for (const char c : text) {
    bytes.push_back(static_cast<unsigned char>(c));
  }
  return bytes;
}

Json token_json(const std::string& text, float log_probability) {
  return {{"token", text}, {"logprob", log_probability}, {"bytes", bytes_json(text)}};
}

// As chat completions have them; null: none were asked for.
Json log_probabilities(std::span<const ToldToken> tokens) {
  if (tokens.empty()) {
    return nullptr;
  }
  Json content = Json::array();
  for (const ToldToken& token : tokens) {
    Json told = token_json(token.text, token.log_probability);
    Json top = Json::array();
    for (const auto& [text, log_probability] : token.alternatives) {
      top.push_back(token_json(text, log_probability));
    }
    told["top_logprobs"] = std::move(top);
    content.push_back(std::move(told));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json delta_json(const ReplyDelta& said) {
  Json delta = Json::object();
  if (!said.content.empty()) {
    delta["content"] = said.content;
  }
  if (!said.reasoning.empty()) {
    delta["reasoning_content"] = said.reasoning;
  }
  for (const CallDelta& call : said.calls) {
    Json one = {{"index", call.index}};
    Json function = Json::object();
    if (!call.id.empty()) {
      one["id"] = call.id;
      one["type"] = "function";
    }
    if (!call.name.empty()) {
      function["name"] = call.name;
    }
    function["arguments"] = call.arguments;
    one["function"] = std::move(function);
    delta["tool_calls"].push_back(std::move(one));
  }
  return delta;
}

class ChatForm final : public ReplyForm {
 public:
  [[nodiscard]] std::string_view id_prefix() const override { return "chatcmpl-"; }

  [[nodiscard]] std::string_view object() const override { return "chat.completion"; }

  [[nodiscard]] std::string_view part_object() const override { return "chat.completion.chunk"; }

  [[nodiscard]] Json beginning(size_t /*number*/) const override {
    return {{"delta", {{"role", "assistant"}, {"content", ""}}}, {"logprobs", nullptr}};
  }

  [[nodiscard]] Json part(const ChatDelta& delta) override {
    return {{"delta", delta_json(delta.said)}, {"logprobs", log_probabilities(delta.tokens)}};
  }

  [[nodiscard]] Json ending() const override {
    return {{"delta", Json::object()}, {"logprobs", nullptr}};
  }

  [[nodiscard]] Json whole(const WrittenReply& written, size_t /*number*/) override {
    const ReplyMessage& said = written.reply.message;
    Json message = {{"role", "assistant"}, {"content", said.content}, {"refusal", nullptr}};
    if (!said.reasoning.empty()) {
      message["reasoning_content"] = said.reasoning;
    }
    if (!said.calls.empty()) {
      message["content"] = said.content.empty() ? Json(nullptr) : Json(said.content);
      message["tool_calls"] = calls_json(said.calls);
    }
    return {{"message", std::move(message)}, {"logprobs", log_probabilities(written.tokens)}};
  }
};

// Thoughts are text here, as are calls: nothing is told apart.
class TextForm final : public ReplyForm {
 public:
  explicit TextForm(std::vector<std::string> echoes) : echoes_(std::move(echoes)) {}

  [[nodiscard]] std::string_view id_prefix() const override { return "cmpl-"; }

  [[nodiscard]] std::string_view object() const override { return "text_completion"; }

  [[nodiscard]] std::string_view part_object() const override { return "text_completion"; }

  [[nodiscard]] Json beginning(size_t number) const override {
    return echoes_.empty() ? Json() : Json{{"text", echoes_[number]}, {"logprobs", nullptr}};
  }

  [[nodiscard]] Json part(const ChatDelta& delta) override {
    return {{"text", delta.said.content}, {"logprobs", log_probabilities_by_list(delta.tokens)}};
  }

  [[nodiscard]] Json ending() const override { return {{"text", ""}, {"logprobs", nullptr}}; }

  [[nodiscard]] Json whole(const WrittenReply& written, size_t number) override {
    return {{"text", (echoes_.empty() ? "" : echoes_[number]) + written.reply.message.content},
            {"logprobs", log_probabilities_by_list(written.tokens)}};
  }

 private:
  // As completions without messages have them.
  static Json log_probabilities_by_list(std::span<const ToldToken> tokens) {
    if (tokens.empty()) {
      return nullptr;
    }
    Json texts = Json::array();
    Json own = Json::array();
    Json top = Json::array();
    for (const ToldToken& token : tokens) {
      texts.push_back(token.text);
      own.push_back(token.log_probability);
      Json likely = Json::object();
      for (const auto& [text, log_probability] : token.alternatives) {
        likely[text] = log_probability;
      }
      top.push_back(std::move(likely));
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(own)},
            {"top_logprobs", std::move(top)}};
  }

  std::vector<std::string> echoes_;
};

double per_second(int64_t tokens, double ms) {
  constexpr double kOfSecond = 1000;
  return ms > 0 ? kOfSecond * static_cast<double>(tokens) / ms : 0;
}

}  // namespace

std::unique_ptr<ReplyForm> chat_form() {
  return std::make_unique<ChatForm>();
}

std::unique_ptr<ReplyForm> text_form(std::vector<std::string> echoes) {
  return std::make_unique<TextForm>(std::move(echoes));
}

Json calls_json(std::span<const ToolCall> calls) {
  Json all = Json::array();
  for (const ToolCall& call : calls) {
    all.push_back({{"id", call.id},
                   {"type", "function"},
                   {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return all;
}

std::string_view finish_reason(ReplyEnd end) {
  switch (end) {
    case ReplyEnd::Whole:
    case ReplyEnd::Stop:
      break;
    case ReplyEnd::Calls:
      return "tool_calls";
    case ReplyEnd::Length:
    case ReplyEnd::NoContext:
      return "length";
  }
  return "stop";
}

Json usage_json(std::span<const Generated> spent, size_t of_a_prompt, int64_t thought_tokens) {
  int64_t read = 0;
  int64_t cached = 0;
  int64_t written = 0;
  for (size_t i = 0; i < spent.size(); ++i) {
    written += spent[i].tokens;
    if (i % of_a_prompt == 0) {
      read += spent[i].prompt_tokens;
      cached += spent[i].cached_tokens;
    }
  }
  return {{"prompt_tokens", read},
          {"completion_tokens", written},
          {"total_tokens", read + written},
          {"prompt_tokens_details", {{"cached_tokens", cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", thought_tokens}}}};
}

Json timings_json(const Generated& spent) {
  const int64_t read = spent.prompt_tokens - spent.cached_tokens;
  Json timings = {{"cache_n", spent.cached_tokens},
                  {"prompt_n", read},
                  {"prompt_ms", spent.prompt_ms},
                  {"prompt_per_second", per_second(read, spent.prompt_ms)},
                  {"predicted_n", spent.tokens},
                  {"predicted_ms", spent.written_ms},
                  {"predicted_per_second", per_second(spent.tokens, spent.written_ms)}};
  if (spent.guessed > 0) {
    timings["draft_n"] = spent.guessed;
    timings["draft_n_accepted"] = spent.guessed_right;
  }
  return timings;
}

}  // namespace mynah::server
