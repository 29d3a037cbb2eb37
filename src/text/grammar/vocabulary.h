// A model's tokens in the order in which a constraint looks at them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/grammar/token_set.h"
#include "text/grammar/token_trie.h"

namespace mynah::grammar {

// What a constraint needs to know of a tokenizer.
struct TokenFacts {
  // bytes[id] are the token's bytes as they stand in the text, not in a printable spelling. An
  // empty one never comes.
  std::span<const std::string> bytes;
  // Control tokens (begin, end, padding, roles of a chat): they write no text and never come, but
  // for the ends. Ids that are out of range are refused.
  std::span<const int32_t> control = {};
  // Tokens that end a reply (EOS, EOT, <|im_end|>): they may come where the text may end, and are
  // control tokens whether `control` has them or not.
  std::span<const int32_t> ends = {};
};

// Immutable and shared by all constraints of a model. About 40 bytes a token.
class TokenVocabulary {
 public:
  // Refused: ids that are not in the vocabulary.
  [[nodiscard]] static Result<std::shared_ptr<const TokenVocabulary>> create(
      const TokenFacts& facts);

  // Tokens, control tokens included.
  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(bytes_.size()); }

  // Words of 32 bits that a mask takes: ceil(size() / 32).
  [[nodiscard]] size_t mask_words() const { return (bytes_.size() + 31) / 32; }

  // The bytes that a token writes; empty for control tokens. Requires 0 <= id < size().
  [[nodiscard]] const std::string& bytes(int32_t id) const {
    return bytes_[static_cast<size_t>(id)];
  }

  [[nodiscard]] bool is_end(int32_t id) const;

  [[nodiscard]] std::span<const int32_t> ends() const { return ends_; }

  [[nodiscard]] const TokenTrie& trie() const { return trie_; }

  // Tokens that are plain text (plain_text.h), and a trie of all others.
  [[nodiscard]] const TokenSet& plain() const { return plain_; }

  [[nodiscard]] const TokenTrie& trie_of_others() const { return trie_of_others_; }

 private:
  TokenVocabulary() = default;

  std::vector<std::string> bytes_;
  std::vector<int32_t> ends_;  // rising
  TokenTrie trie_;
  TokenSet plain_{0};
  TokenTrie trie_of_others_;
};

}  // namespace mynah::grammar
