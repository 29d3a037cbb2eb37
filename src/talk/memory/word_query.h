// What is asked in words as FTS5 is asked for it: any of the words, each as a text and none as an
// operator.
#pragma once

#include <string>
#include <string_view>

namespace mynah::talk {

// FTS5's query for items that have any of the words of `text`, of the first kMostQueryWords
// different ones within its first kMostQueryBytes; "": it has no word. Bytes that are no UTF-8 part
// words.
[[nodiscard]] std::string word_query(std::string_view text);

inline constexpr size_t kMostQueryWords = 64;
inline constexpr size_t kMostQueryBytes = size_t{1} << 16;

}  // namespace mynah::talk
