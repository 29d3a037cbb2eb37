#include "doctor/recipes/shell_conditions.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mynah::doctor {

namespace {

Truth truth(bool holds) {
  return holds ? Truth::Yes : Truth::No;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto read = std::from_chars(begin, end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

Truth compared(std::string_view left, std::string_view sign, std::string_view right) {
  if (sign == "=" || sign == "==") {
    return truth(left == right);
  }
  if (sign == "!=") {
    return truth(left != right);
  }
  const auto a = number(left);
  const auto b = number(right);
  if (!a || !b) {
    return Truth::NotKnown;
  }
  return sign == "-eq"   ? truth(*a == *b)
         : sign == "-ne" ? truth(*a != *b)
         : sign == "-gt" ? truth(*a > *b)
         : sign == "-ge" ? truth(*a >= *b)
         : sign == "-lt" ? truth(*a < *b)
         : sign == "-le" ? truth(*a <= *b)
                         : Truth::NotKnown;
}

// `one_word`: a sign without a value is a word like others.
Truth truth_of(std::span<const std::string> words, bool one_word) {
  if (words.size() > 1 && words[0] == "!") {
    return opposite(truth_of(words.subspan(1), one_word));
  }
  if (words.size() == 1) {
    return one_word || !words[0].starts_with('-') ? truth(!words[0].empty()) : Truth::NotKnown;
  }
  if (words.size() == 2 && (words[0] == "-n" || words[0] == "-z")) {
    return truth(words[1].empty() == (words[0] == "-z"));
  }
  return words.size() == 3 ? compared(words[0], words[1], words[2]) : Truth::NotKnown;
}

}  // namespace

Truth opposite(Truth truth) {
  return truth == Truth::Yes ? Truth::No : truth == Truth::No ? Truth::Yes : Truth::NotKnown;
}

Truth truth_of_test(std::span<const std::string> words) {
  const std::string_view name = words.empty() ? std::string_view() : words.front();
  const bool open = words.size() > 1 && std::ranges::any_of(words.subspan(1), [](const auto& word) {
                      return word.find_first_of("$`*?[") != std::string::npos;
                    });
  if (open) {
    return Truth::NotKnown;
  }
  if (name == "test" && words.size() > 1) {
    return truth_of(words.subspan(1), true);
  }
  const bool bracket =
      (name == "[" && words.back() == "]") || (name == "[[" && words.back() == "]]");
  // An empty value is no word of "[", and one all the same of "[[", which is not seen here.
  return bracket && words.size() > 2 ? truth_of(words.subspan(1, words.size() - 2), name == "[")
                                     : Truth::NotKnown;
}

}  // namespace mynah::doctor
