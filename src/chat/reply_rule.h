// ReplyRule: what may come in a reply: a thought of so many tokens, content that keeps to a
// grammar, calls that do once they begin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/thinking.h"
#include "chat/token_rule.h"
#include "text/grammar/constraint.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

// Calls as a family writes them.
struct CallRules {
  std::shared_ptr<const grammar::Constraint> constraint;  // of what follows; null: none are kept to
  // Where it begins, as streams (chat/reply/reply_markers.h); "": where content begins with an
  // object, too.
  std::vector<std::string> begins;
};

struct ReplyRules {
  ThoughtMarkers thoughts;    // as the model's text has them; empty: it does not think
  bool thinks = false;        // the prompt began a thought
  int64_t most_thought = -1;  // tokens of thoughts, after which one is ended; -1: any
  std::shared_ptr<const grammar::Constraint> content;  // from its beginning; null: any
  bool may_think = false;  // a thought may stand before that, where the prompt began none
  CallRules calls;
};

class ReplyRule final : public TokenRule {
 public:
  // `tokenizer` must outlive it.
  ReplyRule(ReplyRules rules, const TextTokenizer& tokenizer);

  std::span<const uint32_t> allowed() override;
  void take(int32_t token) override;

  [[nodiscard]] std::unique_ptr<TokenRule> copy() const override {
    return std::unique_ptr<TokenRule>(new ReplyRule(*this));
  }

  // Whether a thought was ended that had all its tokens.
  [[nodiscard]] bool ended_thought() const { return ended_thought_; }

 private:
  ReplyRule(const ReplyRule&) = default;

  // What does not change, shared by copies.
  struct Fixed {
    ReplyRules rules;
    std::string thought_begin;  // streams
    std::string thought_end;
    std::vector<int32_t> begin_tokens;  // that begin a thought
    std::vector<int32_t> end_tokens;    // that end it
    size_t longest = 0;                 // marker
  };

  // Whether a thought begins, or may with the next tokens, where a form is for what follows it.
  bool takes_beginning(int32_t token);
  void take_in_thought(int32_t token);
  void take_in_content();
  // Calls from here on, of which that much is there.
  void begin_calls(const std::string& written);
  // The token alone.
  std::span<const uint32_t> only(int32_t token);

  const TextTokenizer* tokenizer_;
  std::shared_ptr<const Fixed> fixed_;
  std::optional<grammar::ConstraintState> state_;
  std::optional<size_t> beginning_;  // of begin_tokens that came, while a thought may begin
  bool thinks_ = false;
  bool is_bare_ = false;  // content begins, and with an object it is a call
  bool ended_thought_ = false;
  int64_t thought_ = 0;  // tokens
  size_t ending_ = 0;    // of end_tokens that came
  std::string written_;  // what may be the beginning of a marker, as a stream
  std::vector<uint32_t> bits_;
};

}  // namespace mynah
