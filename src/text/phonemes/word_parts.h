// The words of a sentence on their way to phonemes: each the parts that its lexicon is asked for,
// together or apart (misaki 0.9.4, en.py, G2P.retokenize).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// A tagged piece of the text: a tokenizer's token, or a range with given phonemes.
struct TaggedToken {
  std::u32string_view text;
  size_t at = 0;  // in characters
  bool space_after = false;
  std::string_view tag;
  std::optional<std::u32string> given = std::nullopt;  // phonemes
};

struct WordPart {
  std::u32string_view text;
  size_t begin = 0;  // in characters
  size_t end = 0;
  std::string_view tag;
  bool space_after = false;
  char32_t currency = U'\0';
  std::optional<std::u32string> phonemes;  // none: not known yet
  bool gap_before = false;                 // said as a word of its own
};

// Parts that stand together without a space.
struct PartGroup {
  size_t first = 0;
  size_t count = 0;
};

struct WordParts {
  std::vector<WordPart> parts;
  std::vector<PartGroup> groups;  // all parts, in order
};

[[nodiscard]] WordParts split_into_parts(std::span<const TaggedToken> tokens);

}  // namespace mynah
