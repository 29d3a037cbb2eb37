#include "chat/reply_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mynah {

ReplyStream::ReplyStream(const TextTokenizer& tokenizer, const ReplyFormat& format,
                         const ReplyOptions& options, std::vector<std::string> stops,
                         bool tells_tokens, std::function<void()> on_more)
    : tokenizer_(tokenizer),
      tells_tokens_(tells_tokens),
      on_more_(std::move(on_more)),
      stops_(std::move(stops)),
      parser_(format, options) {}

ToldToken ReplyStream::told(const ChosenToken& chosen) const {
  ToldToken told{.text = std::string(tokenizer_.bytes(chosen.token)),
                 .log_probability = chosen.log_probability,
                 .alternatives = {}};
  for (const LikelyToken& likely : chosen.alternatives) {
    told.alternatives.emplace_back(tokenizer_.bytes(likely.token), likely.log_probability);
  }
  return told;
}

void ReplyStream::tell(const ReplyDelta& said) {
  ReplyDelta& waiting = waiting_.said;
  waiting.content += said.content;
  waiting.reasoning += said.reasoning;
  for (const CallDelta& call : said.calls) {
    const auto known = std::ranges::find(waiting.calls, call.index, &CallDelta::index);
    if (known == waiting.calls.end()) {
      waiting.calls.push_back(call);
    } else {
      known->arguments += call.arguments;
    }
  }
}

void ReplyStream::read(const std::string& text, bool is_control) {
  if (text.empty()) {
    return;
  }
  const ReplyDelta said = parser_.push({.text = text, .is_control = is_control});
  thought_tokens_ += !said.reasoning.empty() && said.content.empty() ? 1 : 0;
  tell(said);
}

bool ReplyStream::push(const ChosenToken& chosen) {
  const std::lock_guard lock(mutex_);
  const std::string_view bytes = tokenizer_.bytes(chosen.token);
  if (tells_tokens_) {
    waiting_.tokens.push_back(told(chosen));
  }
  if (tokenizer_.is_mark(chosen.token)) {
    // No stop goes on over it.
    read(stops_.push(utf8_.flush()) + stops_.finish(), false);
    if (!stops_.found()) {
      read(std::string(bytes), true);
    }
  } else {
    read(stops_.push(utf8_.push(bytes)), false);
  }
  if (!waiting_.empty() && on_more_ != nullptr) {
    on_more_();
  }
  return !stops_.found();
}

void ReplyStream::finish(Result<Generated> result) {
  const std::lock_guard lock(mutex_);
  if (!stops_.found()) {
    // What was cut within a character has no end of it.
    read(stops_.finish(), false);
  }
  tell(parser_.finish());
  result_ = std::move(result);
  if (on_more_ != nullptr) {
    on_more_();
  }
}

std::optional<ChatDelta> ReplyStream::take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    return std::nullopt;
  }
  // What came of several calls since then is told one after the other, behind the text.
  std::vector<CallDelta> calls = std::exchange(waiting_.said.calls, {});
  ChatDelta next = std::exchange(waiting_, {});
  if (next.empty()) {
    next.said.calls.push_back(std::move(calls.front()));
    calls.erase(calls.begin());
  }
  waiting_.said.calls = std::move(calls);
  return next;
}

bool ReplyStream::is_over() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value() && waiting_.empty();
}

Result<ChatReply> ReplyStream::reply() const {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(const Generated spent, *result_);
  ChatReply reply{.message = parser_.message(),
                  .end = ReplyEnd::Whole,
                  .spent = spent,
                  .thought_tokens = thought_tokens_,
                  .notes = {}};
  if (stops_.found()) {
    reply.end = ReplyEnd::Stop;
  } else if (spent.end == TextEnd::Length) {
    reply.end = ReplyEnd::Length;
  } else if (spent.end == TextEnd::NoContext) {
    reply.end = ReplyEnd::NoContext;
  } else if (!reply.message.calls.empty()) {
    reply.end = ReplyEnd::Calls;
  }
  return reply;
}

}  // namespace mynah
