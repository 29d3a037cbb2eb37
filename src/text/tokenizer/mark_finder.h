// MarkFinder: tokens that are cut out of a text by their spelling.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer/token_table.h"

namespace mynah {

class MarkFinder {
 public:
  // Finds the tokens of these kinds. The table outlives the finder and keeps its tokens.
  MarkFinder(const TokenTable& tokens, std::initializer_list<TokenKind> kinds);

  [[nodiscard]] bool empty() const { return ids_.empty(); }

  // The longest token that the text begins with, or TokenTable::kNone.
  [[nodiscard]] int32_t longest_at(std::string_view text) const {
    if (text.empty() || !first_bytes_[static_cast<unsigned char>(text.front())]) {
      return TokenTable::kNone;
    }
    return longest_of_several(text);
  }

  // The token of exactly this spelling, or TokenTable::kNone.
  [[nodiscard]] int32_t find(std::string_view spelling) const;

 private:
  [[nodiscard]] int32_t longest_of_several(std::string_view text) const;

  const TokenTable& tokens_;
  std::vector<int32_t> ids_;  // by spelling; of those that are spelt alike the first
  std::bitset<256> first_bytes_;
};

}  // namespace mynah
