#include "chat/reply_constraints.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "chat/call_text.h"
#include "chat/reply/call_grammar.h"

namespace mynah {
namespace {

// The tokens' bytes as streams: control tokens stand in the text of calls, and in no other that a
// grammar describes.
Result<std::shared_ptr<const grammar::TokenVocabulary>> vocabulary_of(
    const TextTokenizer& tokenizer) {
  std::vector<std::string> bytes;
  bytes.reserve(static_cast<size_t>(tokenizer.size()));
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    std::string own(tokenizer.bytes(id));
    if (tokenizer.is_mark(id)) {
      own = control_token(own);
    } else if (own.find_first_of(std::string{kControlBegin, kControlEnd}) != std::string::npos) {
      own.clear();  // bytes of no text, which would write a control token letter by letter
    }
    bytes.push_back(std::move(own));
  }
  return grammar::TokenVocabulary::create(
      {.bytes = bytes, .control = {}, .ends = tokenizer.special().reply_ends});
}

std::shared_ptr<const Spellings> controls_of(const TextTokenizer& tokenizer) {
  const auto controls = std::make_shared<Spellings>();
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.is_mark(id)) {
      controls->emplace(tokenizer.bytes(id));
    }
  }
  return controls;
}

std::string key_of(const CallFormat& format, const std::vector<ReplyTool>& tools,
                   ReplyConstraints::CallWish wish) {
  ChatRequest::Json key = {format.name, wish.several, wish.must_come, wish.behind_thought};
  for (const ReplyTool& tool : tools) {
    key.push_back({tool.name, tool.parameters, tool.strict});
  }
  return key.dump(-1, ' ', false, ChatRequest::Json::error_handler_t::replace);
}

}  // namespace

ReplyConstraints::ReplyConstraints(std::shared_ptr<const TextTokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)), controls_(controls_of(*tokenizer_)) {}

Result<std::shared_ptr<const grammar::TokenVocabulary>> ReplyConstraints::vocabulary() {
  const std::lock_guard lock(mutex_);
  if (vocabulary_ == nullptr) {
    MYNAH_TRY(vocabulary_, vocabulary_of(*tokenizer_));
    answers_ = std::make_unique<grammar::ConstraintCache>(vocabulary_);
  }
  return vocabulary_;
}

Result<std::shared_ptr<const grammar::Constraint>> ReplyConstraints::answer(
    const grammar::ConstraintSource& source) {
  MYNAH_TRY_STATUS(vocabulary());
  return answers_->get(source);
}

Result<CallRules> ReplyConstraints::rules_of(const CallFormat& format,
                                             const std::vector<ReplyTool>& tools, CallWish wish) {
  MYNAH_TRY(CallConstraint calls, call_constraint(format, tools, wish.several));
  if (wish.must_come) {
    calls = {.begins = {},
             .behind = calls_with_begin(format, std::move(calls), wish.behind_thought)};
  }
  std::vector<std::string> ends;
  for (const int32_t end : tokenizer_->special().reply_ends) {
    ends.push_back(control_token(tokenizer_->bytes(end)));
  }
  MYNAH_TRY(const grammar::Grammar grammar, grammar_of_calls(calls.behind, *controls_, ends));
  MYNAH_TRY(auto known, vocabulary());
  CallRules rules;
  MYNAH_TRY(rules.constraint, grammar::Constraint::compile(grammar, std::move(known)));
  for (const std::string& begin : calls.begins) {
    rules.begins.push_back(mark_controls(begin, *controls_));
  }
  return rules;
}

Result<ReplyConstraints::Calls> ReplyConstraints::make_calls(const CallFormat& format,
                                                             std::vector<ReplyTool> tools,
                                                             CallWish wish) {
  Calls made;
  auto rules = rules_of(format, tools, wish);
  for (size_t i = 0; i < tools.size() && !rules; ++i) {
    const auto alone = rules_of(format, {tools[i]}, wish);
    if (alone) {
      continue;
    }
    if (tools[i].strict) {
      return std::unexpected(
          Error(alone.error()).while_doing(fmt::format("tool {}", tools[i].name)));
    }
    made.notes.push_back({.code = "call_not_kept_to_schema",
                          .text = fmt::format("calls of {} are not kept to its schema: {}",
                                              tools[i].name, alone.error().message)});
    tools[i].parameters = R"({"type": "object"})";
    rules = rules_of(format, tools, wish);
  }
  if (rules) {
    made.rules = *std::move(rules);
  } else if (wish.must_come) {
    return std::unexpected(std::move(rules).error());
  } else if (made.notes.empty()) {
    made.notes.push_back(
        {.code = "call_not_kept_to_schema",
         .text = fmt::format("calls are not kept to their schemas: {}", rules.error().message)});
  }
  return made;
}

Result<ReplyConstraints::Calls> ReplyConstraints::calls(const CallFormat& format,
                                                        const std::vector<ReplyTool>& tools,
                                                        CallWish wish) {
  std::string key = key_of(format, tools, wish);
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(calls_, key, &Entry::key);
    if (known != calls_.end()) {
      calls_.splice(calls_.begin(), calls_, known);
      return known->calls;
    }
  }
  MYNAH_TRY(Calls made, make_calls(format, tools, wish));
  constexpr size_t kMost = 16;
  const std::lock_guard lock(mutex_);
  calls_.push_front({.key = std::move(key), .calls = made});
  if (calls_.size() > kMost) {
    calls_.pop_back();
  }
  return made;
}

}  // namespace mynah
