#include "text/phonemes/user_lexicon.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "formats/byte_reader.h"
#include "text/phonemes/alphabet.h"
#include "text/phonemes/data_file.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::string_view kBlank = " \t\r";

// As words are looked up: with straight apostrophes.
std::u32string spelling_of(std::string_view word) {
  std::u32string spelling = to_code_points(word);
  std::ranges::replace_if(spelling, is_apostrophe, U'\'');
  return spelling;
}

struct LexiconLine {
  size_t number = 0;
  std::string_view word;
  std::string_view phonemes;  // "": none
};

// The lines of a lexicon that say something, each word once.
Result<std::vector<LexiconLine>> lines_of(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<LexiconLine> lines;
  std::unordered_set<std::u32string> words;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    const std::string_view line = trimmed(whole, kBlank);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::InvalidInput, fmt::format("{}, line {}: {}", name, number, what));
    };
    if (replace_invalid_utf8(line) != line) {
      return wrong(fmt::format("wanted UTF-8, found {}", in_quotes(line)));
    }
    const size_t tab = line.find('\t');
    const bool alone = tab == std::string_view::npos;
    const std::string_view word = trimmed(line.substr(0, tab), kBlank);
    const bool spaced = word.find(' ') != std::string_view::npos;
    if (whole.starts_with('\t') || (alone && spaced)) {
      return wrong(
          fmt::format("wanted a word, a tab and its phonemes, found {} (a word alone has no space)",
                      in_quotes(line)));
    }
    if (spaced) {
      return wrong(fmt::format("wanted one word without a space, found {}", in_quotes(word)));
    }
    // The tab says that phonemes were meant.
    if (alone && whole.contains('\t')) {
      return wrong(
          fmt::format("wanted phonemes behind the tab of {}, found none", in_quotes(word)));
    }
    if (!words.insert(spelling_of(word)).second) {
      return wrong(
          fmt::format("{} has an entry above already: wanted each word once", in_quotes(word)));
    }
    lines.push_back({.number = number,
                     .word = word,
                     .phonemes = alone ? std::string_view() : trimmed(line.substr(tab), kBlank)});
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> lexicon_words(std::string_view text, std::string_view name) {
  MYNAH_TRY(const std::vector<LexiconLine> lines, lines_of(text, name));
  std::vector<std::string> words;
  words.reserve(lines.size());
  for (const LexiconLine& line : lines) {
    words.emplace_back(line.word);
  }
  return words;
}

Result<std::vector<std::string>> read_lexicon_words(const std::string& path) {
  if (path.empty()) {
    return std::vector<std::string>();
  }
  MYNAH_TRY(const std::string text, read_data_file(path));
  MYNAH_TRY(std::vector<std::string> words, lexicon_words(text, path));
  if (words.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted words, each on a line of its own, alone or with a tab and "
                            "its phonemes, found none",
                            path));
  }
  return words;
}

Result<UserLexicon> UserLexicon::parse(std::string_view text, std::string_view name,
                                       LexiconPhonemes wanted) {
  MYNAH_TRY(const std::vector<LexiconLine> lines, lines_of(text, name));
  UserLexicon lexicon;
  for (const LexiconLine& line : lines) {
    if (line.phonemes.empty()) {
      continue;
    }
    auto converted = wanted == LexiconPhonemes::AsWritten
                         ? std::string(line.phonemes)
                         : to_kokoro_phonemes(line.phonemes, wanted == LexiconPhonemes::British);
    if (!converted) {
      return std::unexpected(
          std::move(converted.error()).while_doing(fmt::format("{}, line {}", name, line.number)));
    }
    std::u32string spelling = spelling_of(line.word);
    lexicon.longest_ = std::max(lexicon.longest_, spelling.size());
    lexicon.words_.emplace(std::move(spelling), to_code_points(*converted));
  }
  return lexicon;
}

Result<UserLexicon> UserLexicon::read(const std::string& path, LexiconPhonemes wanted) {
  MYNAH_TRY(const auto words, read_lexicon_words(path));  // refuses a file without any
  MYNAH_TRY(const std::string text, read_data_file(path));
  return parse(text, path, wanted);
}

std::optional<std::u32string_view> UserLexicon::find(std::string_view word) const {
  // A character has four bytes at most.
  return word.size() > 4 * longest_ ? std::nullopt : find(spelling_of(word));
}

std::optional<std::u32string_view> UserLexicon::find(std::u32string_view word) const {
  if (word.size() > longest_) {
    return std::nullopt;
  }
  auto found = words_.find(std::u32string(word));
  if (found == words_.end()) {
    found = words_.find(lower(word));
  }
  return found == words_.end() ? std::nullopt : std::optional<std::u32string_view>(found->second);
}

}  // namespace mynah
