#include "text/tokenizer/mark_finder.h"

#include <algorithm>
#include <cstddef>

namespace mynah {

MarkFinder::MarkFinder(const TokenTable& tokens, std::initializer_list<TokenKind> kinds)
    : tokens_(tokens) {
  for (int32_t id = 0; id < tokens.size(); ++id) {
    const bool wanted = std::ranges::find(kinds, tokens.kind(id)) != kinds.end();
    if (wanted && !tokens.bytes(id).empty()) {
      ids_.push_back(id);
      first_bytes_.set(static_cast<unsigned char>(tokens.bytes(id).front()));
    }
  }
  const auto spelling = [&](int32_t id) { return tokens.bytes(id); };
  std::ranges::stable_sort(ids_, {}, spelling);
  ids_.erase(std::ranges::unique(ids_, {}, spelling).begin(), ids_.end());
}

int32_t MarkFinder::longest_of_several(std::string_view text) const {
  // Those that begin with the text's first `length` bytes: one that is no longer stands first.
  auto first = ids_.begin();
  auto last = ids_.end();
  int32_t longest = TokenTable::kNone;
  for (size_t length = 0; first != last; ++length) {
    if (tokens_.bytes(*first).size() == length) {
      longest = *first++;
    }
    if (length == text.size()) {
      break;
    }
    const auto byte = [&](int32_t id) {
      return static_cast<unsigned char>(tokens_.bytes(id)[length]);
    };
    const auto range =
        std::ranges::equal_range(first, last, static_cast<unsigned char>(text[length]), {}, byte);
    first = range.begin();
    last = range.end();
  }
  return longest;
}

int32_t MarkFinder::find(std::string_view spelling) const {
  const auto found =
      std::ranges::lower_bound(ids_, spelling, {}, [&](int32_t id) { return tokens_.bytes(id); });
  return found != ids_.end() && tokens_.bytes(*found) == spelling ? *found : TokenTable::kNone;
}

}  // namespace mynah
