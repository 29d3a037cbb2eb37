// What is asked in words as FTS5 is asked for it: any of the words, each as a text and none as an
// operator.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::talk {

// The first kMostQueryWords different words of `text` within its first kMostQueryBytes, each as a
// query of FTS5's. Bytes that are no UTF-8 part words.
[[nodiscard]] std::vector<std::string> query_words(std::string_view text);

// FTS5's query for items that have any of them; "": there is none.
[[nodiscard]] std::string any_of(std::span<const std::string> query_words);

inline constexpr size_t kMostQueryWords = 64;
inline constexpr size_t kMostQueryBytes = size_t{1} << 16;

}  // namespace mynah::talk
