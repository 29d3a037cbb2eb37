#include "speech/hotwords.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {

std::vector<std::string> hotwords_in(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  constexpr std::string_view kBetweenPhrases = ",\n";
  const bool phrases = trimmed(text, kBlank).find_first_of(kBetweenPhrases) != std::string::npos;
  const std::string_view between = phrases ? kBetweenPhrases : kBlank;
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(between), text.size());
    if (const std::string_view word = trimmed(text.substr(0, end), kBlank); !word.empty()) {
      words.emplace_back(word);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Status check_hotwords(const std::vector<std::string>& words) {
  constexpr size_t kMostBytes = 1'000'000;
  size_t bytes = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    bytes += words[i].size();
    if (replace_invalid_utf8(words[i]) != words[i]) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("hotwords: wanted UTF-8, found {} as word {}",
                              replace_invalid_utf8(words[i]), i + 1));
    }
  }
  if (bytes > kMostBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("hotwords: wanted at most {} bytes of words, found {}: give those "
                            "that may be said",
                            kMostBytes, bytes));
  }
  return {};
}

}  // namespace mynah
