#include "doctor/errors/mentions.h"

#include <algorithm>
#include <array>
#include <string>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostLooked = 2048;  // bytes of a line before its error, and behind

bool is_letter(char c) {
  return is_small_letter(small_letter(c));
}

// Whether one of the words stands in the text, with no letter on either side.
template <size_t Count>
bool has_word(std::string_view text, const std::array<std::string_view, Count>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) {
        return true;
      }
    }
    return false;
  });
}

template <size_t Count>
bool begins_with(std::string_view text, const std::array<std::string_view, Count>& beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// In front of an error, they say that it is spoken of.
constexpr auto kSpeaks = std::to_array<std::string_view>(
    {"fix",        "fixed",      "fixes",        "bugfix",         "resolved",     "resolves",
     "avoid",      "avoids",     "avoided",      "prevent",        "prevents",     "workaround",
     "no longer",  "in case of", "for example",  "e.g.",           "such as",      "changelog",
     "handles",    "catches",    "ignores",      "better message", "better error", "improved",
     "if you see", "if you get", "when you see", "when you get",   "without any"});

// Behind an error, they say so.
constexpr auto kSpoken = std::to_array<std::string_view>(
    {"fixed", "is fixed", "was fixed", "resolved", "no longer", "is handled", "are handled"});

// Of advice, and of code.
constexpr auto kBeginnings = std::to_array<std::string_view>(
    {"if ",    "when ",   "where ", "should ", "how ",     "why ",    "q: ",       "# ",
     "## ",    "### ",    "// ",    "raise ",  "throw ",   "except ", "elif ",     "assert ",
     "print(", "printf(", "echo ",  "logger.", "logging.", "log.",    "warnings.", "return "});

constexpr auto kNoConcern = std::to_array<std::string_view>({"INFO", "DEBUG", "TRACE"});
constexpr auto kConcern = std::to_array<std::string_view>(
    {"error", "err", "warning", "warn", "fatal", "critical", "failed", "exception"});
constexpr auto kQuietly =
    std::to_array<std::string_view>({"level=info", "level=debug", "\"level\":\"info\"",
                                     "\"level\":\"debug\"", "[info]", "[debug]"});
constexpr auto kBuildStep = std::to_array<std::string_view>({"RUN"});

// "(#1234)": a changelog names what was mended.
bool ends_with_number_of_an_issue(std::string_view line) {
  if (!line.ends_with(')')) {
    return false;
  }
  const size_t open = line.rfind("(#");
  return open != std::string_view::npos && open + 3 < line.size() &&
         std::ranges::all_of(line.substr(open + 2, line.size() - open - 3), is_digit);
}

}  // namespace

bool only_mentions(std::string_view text, size_t begin, size_t end) {
  const size_t line_end = text.find('\n', end);
  const std::string_view after = text.substr(
      end, std::min(line_end == std::string_view::npos ? text.size() - end : line_end - end,
                    kMostLooked));
  std::string_view before =
      text.substr(begin - std::min(begin, kMostLooked), std::min(begin, kMostLooked));
  if (const size_t line = before.rfind('\n'); line != std::string_view::npos) {
    before.remove_prefix(line + 1);
  }
  before.remove_prefix(std::min(before.find_first_not_of(' '), before.size()));
  const std::string small_before = small_letters(before);
  const std::string small_after = small_letters(after);
  const bool no_concern = (has_word(before, kNoConcern) || has_word(small_before, kQuietly)) &&
                          !has_word(small_before, kConcern);
  const bool passed = after.ends_with(" ok") || after.ends_with(" PASSED");
  return no_concern || passed || has_word(small_before, kSpeaks) ||
         has_word(small_after, kSpoken) || begins_with(small_before, kBeginnings) ||
         has_word(before, kBuildStep) || ends_with_number_of_an_issue(after);
}

}  // namespace mynah::doctor
