#include "text/grammar/token_set.h"

#include <algorithm>

namespace mynah::grammar {

void TokenSet::add(std::span<const int32_t> tokens) {
  if (bits_.empty() && listed_.size() + tokens.size() >= words_) {
    bits_.resize(words_);
    std::ranges::for_each(listed_, [&](int32_t token) { set_token_bit(bits_, token); });
    listed_ = {};
  }
  if (bits_.empty()) {
    listed_.insert(listed_.end(), tokens.begin(), tokens.end());
  } else {
    std::ranges::for_each(tokens, [&](int32_t token) { set_token_bit(bits_, token); });
  }
}

void TokenSet::add_to(std::span<uint32_t> bits) const {
  std::ranges::for_each(listed_, [&](int32_t token) { set_token_bit(bits, token); });
  for (size_t word = 0; word < bits_.size(); ++word) {
    bits[word] |= bits_[word];
  }
}

}  // namespace mynah::grammar
