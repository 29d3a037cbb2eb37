// Versions: "v1.2.3", "Python 3.11".
#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

std::string version_part(std::string_view digits, EnglishDialect dialect) {
  return digits.size() > 1 && digits[0] == '0' ? digit_words(digits)
                                               : cardinal_words(digits, dialect);
}

std::string version_words(const Tokens& tokens, size_t at, size_t end, std::string_view between,
                          EnglishDialect dialect) {
  std::string words;
  for (size_t i = at; i < end; i += 2) {
    words += words.empty() ? "" : between;
    words += version_part(tokens.text(i), dialect);
  }
  return words;
}

// "-rc.2", "-beta", "rc1", "b3" behind a version: how far it is.
std::optional<Reading> stage_at(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kStages = {
      {{"rc", "R C"},
       {"RC", "R C"},
       {"alpha", "alpha"},
       {"beta", "beta"},
       {"dev", "dev"},
       {"pre", "pre"},
       {"preview", "preview"},
       {"nightly", "nightly"},
       {"SNAPSHOT", "snapshot"},
       {"post", "post"},
       {"b", "beta"},
       {"LTS", "L T S"}}};
  const size_t word = tokens.is(at, "-") || tokens.is(at, ".") || tokens.is(at, "_") ? at + 1 : at;
  const auto* const stage =
      std::ranges::find(kStages, tokens.text(word), [](const auto& s) { return s.first; });
  if (stage == kStages.end()) {
    return std::nullopt;
  }
  const size_t number = tokens.is(word + 1, ".") || tokens.is(word + 1, "-") ? word + 2 : word + 1;
  std::string words = with_letter_names(stage->second);
  if (tokens.is_digits(number, 1, 6) && tokens.ends_word(number + 1)) {
    return Reading{number + 1, words + " " + version_part(tokens.text(number), dialect)};
  }
  return tokens.ends_word(word + 1) ? std::optional(Reading{word + 1, std::move(words)})
                                    : std::nullopt;
}

}  // namespace

std::optional<Reading> read_version(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  constexpr auto kSoftware = std::to_array<std::string_view>(
      {"version",    "release",    "python", "node",    "ubuntu",  "debian",     "fedora",
       "cuda",       "cudnn",      "java",   "ios",     "android", "windows",    "macos",
       "gcc",        "clang",      "php",    "ruby",    "rust",    "kernel",     "linux",
       "postgresql", "mysql",      "chrome", "firefox", "pytorch", "tensorflow", "openssl",
       "cmake",      "kubernetes", "docker", "mynah",   "onnx",    "numpy"});
  const bool letter = (tokens.is(at, "v") || tokens.is(at, "V")) && tokens.begins_word(at);
  const size_t dotted = letter && tokens.is(at + 1, ".") ? at + 2 : at + 1;
  const size_t begin = letter ? dotted : at;
  if (!tokens.is_digits(begin, 1, 6) || (!letter && !tokens.begins_word(at))) {
    return std::nullopt;
  }
  size_t end = begin + 1;
  while (tokens.is(end, ".") && tokens.is_digits(end + 1, 1, 6) && end - begin < 16) {
    end += 2;
  }
  const size_t groups = (end - begin + 1) / 2;
  const bool software = among(kSoftware, ascii_lower(tokens.word_before(at)));
  const bool known = groups == 2 && software;
  if (!letter && !software && is_dotted_amount(tokens, begin)) {
    return std::nullopt;
  }
  // "a V8 engine"
  if ((!letter && groups < 3 && !known) || (tokens.is(at, "V") && groups < 2)) {
    return std::nullopt;
  }
  std::string words = version_words(tokens, begin, end, " point ", options.dialect);
  if (auto stage = stage_at(tokens, end, options.dialect)) {
    end = stage->end;
    words += " " + stage->words;
  }
  return Reading{end, letter ? "version " + words : words};
}

}  // namespace mynah
