// Whether a word is a verb, where its neighbours tell that better than the tagger: "Economists
// project a slow year", "Does anyone object?", "the sign read". And the letter A, which is no
// article.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/phonemes/word_parts.h"

namespace mynah {

// The Penn Treebank tag that the neighbours of the word at `at` settle: "VB" or "VBZ" for a verb,
// "NN" for a noun; none where they do not tell, or the tag says so already. For words that are both
// in one form ("project", "records").
[[nodiscard]] std::optional<std::string_view> settled_tag(std::span<const TaggedToken> tokens,
                                                          size_t at);

// For "read": "VBD" where it is the past, or a participle; "VB" where it is the present, or a noun.
[[nodiscard]] std::string_view tense_of_read(std::span<const TaggedToken> tokens, size_t at);

// Whether an "a" or "A" is the letter: "Hepatitis A spreads", "Section 2(a)", "a squared".
[[nodiscard]] bool is_letter_a(std::span<const TaggedToken> tokens, size_t at);

}  // namespace mynah
