#include "cli/chat/conversation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "chat/repetition.h"
#include "cli/chat/shown_text.h"
#include "formats/json.h"
#include "store/files.h"
#include "talk/memory/quoted_memory.h"
#include "talk/tools/rounds.h"

namespace mynah::cli {

namespace {

using Json = Conversation::Json;

// Hears what is told to another, so that a reply that is stopped is known as far as it came.
class Overheard final : public ChatObserver {
 public:
  Overheard(ChatObserver& other, const std::function<bool()>& on_repetition)
      : other_(other), on_repetition_(on_repetition) {}

  Status on_begin(int64_t prompt_tokens, int64_t context) override {
    prompt_tokens_ = prompt_tokens;
    return other_.on_begin(prompt_tokens, context);
  }

  void on_note(const ReplyNote& note) override { other_.on_note(note); }

  Status on_delta(const ChatDelta& delta) override {
    content_ += delta.said.content;
    reasoning_ += delta.said.reasoning;
    MYNAH_TRY_STATUS(other_.on_delta(delta));
    const bool thinks_so = repetition_.push(delta.said.reasoning);
    if ((repetition_.push(delta.said.content) || thinks_so) && !on_repetition_()) {
      ended_ = true;
      return fail(ErrorCode::Cancelled, "the reply repeats itself");
    }
    return {};
  }

  Status on_end(const ChatReply& reply) override { return other_.on_end(reply); }

  [[nodiscard]] const std::string& content() const { return content_; }

  // What there is of a reply that was ended because it repeats itself; none: it was not.
  [[nodiscard]] std::optional<ChatReply> ended() const {
    if (!ended_) {
      return std::nullopt;
    }
    ChatReply reply;
    reply.message.content = content_;
    reply.message.reasoning = reasoning_;
    reply.end = ReplyEnd::Length;
    reply.spent.prompt_tokens = prompt_tokens_;
    reply.notes.push_back({.code = std::string(kRepeatsNote),
                           .text = "the answer repeats itself and was ended: --repeat-penalty 1.1 "
                                   "or another model may help, --max-tokens N bounds it in place "
                                   "of that"});
    return reply;
  }

 private:
  ChatObserver& other_;
  const std::function<bool()>& on_repetition_;
  RepetitionWatch repetition_;
  std::string content_;
  std::string reasoning_;
  int64_t prompt_tokens_ = 0;
  bool ended_ = false;
};

}  // namespace

std::optional<Thinking> thinking_of(std::string_view word) {
  using Effort = Thinking::Effort;
  constexpr std::array<std::pair<std::string_view, Effort>, 8> kWords = {
      {{"", Effort::AsTaught},
       {"auto", Effort::AsTaught},
       {"off", Effort::None},
       {"on", Effort::On},
       {"minimal", Effort::Minimal},
       {"low", Effort::Low},
       {"medium", Effort::Medium},
       {"high", Effort::High}}};
  const auto* const known =
      std::ranges::find(kWords, word, &std::pair<std::string_view, Effort>::first);
  if (known != kWords.end()) {
    return Thinking{.effort = known->second};
  }
  int64_t tokens = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tokens);
  if (error != std::errc() || end != word.data() + word.size() || tokens < 0) {
    return std::nullopt;
  }
  return Thinking{.most_tokens = tokens};
}

Conversation::Conversation(ChatModel& model, ChatRequest base, std::string system)
    : model_(model), request_(std::move(base)), system_(std::move(system)) {
  clear();
}

void Conversation::remember(std::shared_ptr<talk::ConversationMemory> memory,
                            std::string model_name, std::function<void(std::string_view)> tell) {
  memory_ = std::move(memory);
  model_name_ = std::move(model_name);
  tell_ = std::move(tell);
}

void Conversation::keep(talk::MemoryOrigin origin, std::string_view who, std::string_view text) {
  if (!memory_) {
    return;
  }
  const Status kept = memory_->keep({.origin = origin,
                                     .who = std::string(who),
                                     .language = {},
                                     .text = std::string(text),
                                     .played = {}});
  if (!kept) {
    tell_(kept.error().message);
  }
}

void Conversation::clear() {
  if (memory_) {
    memory_->begin_anew();
  }
  marks_.clear();
  request_.messages = Json::array();
  if (!system_.empty()) {
    request_.messages.push_back({{"role", "system"}, {"content", system_}});
  }
}

void Conversation::set_system(std::string system) {
  system_ = std::move(system);
  Json said = std::exchange(request_.messages, Json::array());
  std::vector<size_t> marks = std::exchange(marks_, {});
  clear();
  marks_ = std::move(marks);
  for (Json& message : said) {
    if (message["role"] != "system") {
      request_.messages.push_back(std::move(message));
    }
  }
}

// What the model is reminded of stands with the question and stays there: all before it is what it
// was, so that the model has it read.
void Conversation::say(const std::string& text) {
  std::string given = text;
  recalled_.clear();
  if (memory_) {
    marks_.push_back(memory_->kept());
    auto reminded = memory_->remind(text, {});
    if (reminded) {
      given = talk::with_memory(text, reminded->quoted);
      memory_->told(*reminded);
      recalled_ = std::move(reminded->items);
    } else {
      tell_(reminded.error().message);
    }
  }
  keep(talk::MemoryOrigin::User, "", text);
  request_.messages.push_back({{"role", "user"}, {"content", std::move(given)}});
}

void Conversation::answer_call(const ToolCall& call, std::string result) {
  keep(talk::MemoryOrigin::Tool, call.name, result);
  request_.messages.push_back(talk::answer_message(call, std::move(result)));
}

bool Conversation::take_back_reply() {
  Json& messages = request_.messages;
  while (!messages.empty() && messages.back()["role"] != "user") {
    if (messages.back()["role"] == "system") {
      return false;
    }
    messages.erase(messages.size() - 1);
  }
  return !messages.empty();
}

bool Conversation::undo() {
  if (!take_back_reply()) {
    return false;
  }
  request_.messages.erase(request_.messages.size() - 1);
  if (!marks_.empty()) {
    const Status forgotten = memory_->forget_behind(marks_.back());
    marks_.pop_back();
    if (!forgotten) {
      tell_(forgotten.error().message);
    }
  }
  return true;
}

Status Conversation::load(Json messages, std::string_view file) {
  ChatRequest loaded = request_;
  loaded.messages = std::move(messages);
  auto rendered = model_.prompt().render(loaded);
  if (!rendered) {
    return std::unexpected(std::move(rendered).error().while_doing(file));
  }
  request_.messages = std::move(loaded.messages);
  marks_.clear();
  if (memory_) {
    memory_->begin_anew();
  }
  return {};
}

Result<ChatReply> Conversation::reply(ChatObserver& observer, const std::stop_token& stop,
                                      const std::function<bool()>& on_repetition) {
  Overheard overheard(observer, on_repetition);
  auto replied = model_.reply(request_, overheard, stop);
  if (auto ended = overheard.ended()) {
    replied = *std::move(ended);
  }
  if (replied) {
    request_.messages.push_back(talk::called_message(replied->message));
    keep(talk::MemoryOrigin::Assistant, model_name_, replied->message.content);
  } else if (replied.error().code == ErrorCode::Cancelled && !overheard.content().empty()) {
    request_.messages.push_back({{"role", "assistant"}, {"content", overheard.content()}});
    keep(talk::MemoryOrigin::Assistant, model_name_, overheard.content());
  }
  if (memory_) {
    if (const Status made = memory_->make_vectors(stop); !made) {
      tell_(made.error().message);
    }
  }
  return replied;
}

std::vector<std::string> recalled_lines(const Conversation& conversation) {
  std::vector<std::string> lines;
  for (const talk::RecalledWords& words : conversation.recalled()) {
    lines.push_back(recalled_line(words.day, words.text));
  }
  return lines;
}

Result<Json> read_messages(const std::string& file) {
  MYNAH_TRY(const std::string text, read_text_file(file));
  MYNAH_TRY(Json read, parse_ordered_json(text, file));
  if (!read.is_array()) {
    return fail(ErrorCode::InvalidInput, file + ": wanted a conversation as /save writes it");
  }
  return read;
}

}  // namespace mynah::cli
