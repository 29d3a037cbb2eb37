#include "chat/reply_rule.h"

#include <algorithm>
#include <utility>

#include "chat/reply/reply_markers.h"
#include "text/grammar/token_set.h"

namespace mynah {
namespace {

// The tokens that write a marker, marks among them.
std::vector<int32_t> tokens_of(const TextTokenizer& tokenizer, const std::string& marker) {
  const PromptPart part{.text = marker, .given = false};
  return marker.empty() ? std::vector<int32_t>() : tokenizer.encode_template({&part, 1});
}

// Control tokens of a marker as a stream has them.
std::string stream_of(const TextTokenizer& tokenizer, const std::string& marker) {
  std::string stream;
  for (const int32_t token : tokens_of(tokenizer, marker)) {
    const std::string bytes(tokenizer.bytes(token));
    stream += tokenizer.is_mark(token) ? control_token(bytes) : bytes;
  }
  return stream;
}

}  // namespace

ReplyRule::ReplyRule(ReplyRules rules, const TextTokenizer& tokenizer)
    : tokenizer_(&tokenizer),
      thinks_(rules.thinks),
      bits_((static_cast<size_t>(tokenizer.size()) + 31) / 32) {
  Fixed fixed;
  fixed.thought_begin = stream_of(tokenizer, rules.thoughts.begin);
  const std::string thought_end = rules.thoughts.end + rules.thoughts.answer;
  fixed.thought_end = stream_of(tokenizer, thought_end);
  fixed.begin_tokens = tokens_of(tokenizer, rules.thoughts.begin);
  fixed.end_tokens = tokens_of(tokenizer, thought_end);
  fixed.longest = std::max(fixed.thought_begin.size(), fixed.thought_end.size());
  for (const std::string& begin : rules.calls.begins) {
    fixed.longest = std::max(fixed.longest, begin.size());
  }
  is_bare_ = rules.calls.constraint != nullptr &&
             std::ranges::find(rules.calls.begins, "") != rules.calls.begins.end();
  if (rules.content != nullptr && !thinks_) {
    state_.emplace(rules.content);
    if (rules.may_think && !fixed.begin_tokens.empty()) {
      beginning_ = 0;
    }
  }
  fixed.rules = std::move(rules);
  fixed_ = std::make_shared<const Fixed>(std::move(fixed));
}

std::span<const uint32_t> ReplyRule::only(int32_t token) {
  std::ranges::fill(bits_, 0);
  grammar::set_token_bit(bits_, token);
  return bits_;
}

std::span<const uint32_t> ReplyRule::allowed() {
  const int64_t most = fixed_->rules.most_thought;
  if (thinks_ && most >= 0 && thought_ >= most && ending_ < fixed_->end_tokens.size()) {
    ended_thought_ = true;
    return only(fixed_->end_tokens[ending_]);
  }
  if (!state_) {
    return beginning_ ? only(fixed_->begin_tokens[*beginning_]) : std::span<const uint32_t>();
  }
  // Where no token may come the text ends: what was written so far fits, and nothing goes on.
  if (!state_->mask(bits_)) {
    for (const int32_t end : state_->constraint().vocabulary().ends()) {
      grammar::set_token_bit(bits_, end);
    }
  }
  if (beginning_) {
    grammar::set_token_bit(bits_, fixed_->begin_tokens[*beginning_]);
  }
  return bits_;
}

void ReplyRule::begin_calls(const std::string& written) {
  is_bare_ = false;
  written_ = written;
  state_.emplace(fixed_->rules.calls.constraint);
  if (!state_->accept(written_)) {
    // It wrote something else in the same token: no call of its format.
    state_.reset();
  }
}

void ReplyRule::take_in_thought(int32_t token) {
  const bool is_forced =
      ended_thought_ && ending_ < fixed_->end_tokens.size() && fixed_->end_tokens[ending_] == token;
  ending_ += is_forced ? 1 : 0;
  ++thought_;
  const size_t at = written_.find(fixed_->thought_end);
  if (at == std::string::npos) {
    return;
  }
  written_.erase(0, at + fixed_->thought_end.size());
  thinks_ = false;
  if (fixed_->rules.content != nullptr) {
    state_.emplace(fixed_->rules.content);
  }
}

void ReplyRule::take_in_content() {
  const ReplyRules& rules = fixed_->rules;
  const size_t thought =
      fixed_->thought_begin.empty() ? std::string::npos : written_.find(fixed_->thought_begin);
  if (thought != std::string::npos) {
    written_.erase(0, thought + fixed_->thought_begin.size());
    thinks_ = true;
    ending_ = 0;
    return;
  }
  if (rules.calls.constraint == nullptr) {
    return;
  }
  for (const std::string& begin : rules.calls.begins) {
    const size_t at = begin.empty() ? std::string::npos : written_.find(begin);
    if (at != std::string::npos) {
      return begin_calls(written_.substr(at + begin.size()));
    }
  }
  const std::string_view content = without_leading_space(written_);
  if (is_bare_ && !content.empty()) {
    is_bare_ = false;
    if (content.front() == '{') {
      begin_calls(std::string(content));
    }
  }
}

bool ReplyRule::takes_beginning(int32_t token) {
  if (!beginning_) {
    return false;
  }
  if (fixed_->begin_tokens[*beginning_] != token) {
    beginning_.reset();
    return false;
  }
  // What else begins so may still come.
  if (state_ && !state_->accept(token)) {
    state_.reset();
  }
  if (++*beginning_ == fixed_->begin_tokens.size()) {
    beginning_.reset();
    state_.reset();
    thinks_ = true;
  }
  return true;
}

void ReplyRule::take(int32_t token) {
  if (takes_beginning(token)) {
    return;
  }
  if (state_) {
    // A mask had it, so it is taken; where the grammar has too many readings mask() says so next.
    (void)state_->accept(token);
    return;
  }
  const std::string bytes(tokenizer_->bytes(token));
  written_ += tokenizer_->is_mark(token) ? control_token(bytes) : bytes;
  if (thinks_) {
    take_in_thought(token);
  } else {
    take_in_content();
  }
  // Enough to find a marker that the next token ends, and whatever that has behind it.
  if (written_.size() > fixed_->longest && !is_bare_) {
    written_.erase(0, written_.size() - fixed_->longest);
  }
}

}  // namespace mynah
