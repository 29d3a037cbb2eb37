#include "chat/constraint_rule.h"

#include <algorithm>
#include <utility>

namespace mynah {

ConstraintRule::ConstraintRule(std::shared_ptr<const grammar::Constraint> constraint,
                               const TextTokenizer& tokenizer, std::string after)
    : tokenizer_(tokenizer),
      state_(std::move(constraint)),
      after_(std::move(after)),
      bits_(state_.constraint().vocabulary().mask_words()) {}

std::span<const uint32_t> ConstraintRule::allowed() {
  if (!after_.empty()) {
    return {};
  }
  // Where no token may come the text ends: what was written so far fits, and nothing goes on.
  if (!state_.mask(bits_)) {
    std::ranges::fill(bits_, 0);
    for (const int32_t end : state_.constraint().vocabulary().ends()) {
      bits_[static_cast<size_t>(end) / 32] |= 1U << (static_cast<uint32_t>(end) % 32);
    }
  }
  return bits_;
}

void ConstraintRule::take(int32_t token) {
  if (after_.empty()) {
    // A mask had it, so it is taken; where the grammar has too many readings mask() says so next.
    (void)state_.accept(token);
    return;
  }
  written_ += tokenizer_.bytes(token);
  if (const size_t at = written_.find(after_); at != std::string::npos) {
    after_.clear();
    written_.clear();
  } else if (written_.size() > after_.size()) {
    written_.erase(0, written_.size() - after_.size());
  }
}

}  // namespace mynah
