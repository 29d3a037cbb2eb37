#include "text/phonemes/user_lexicon.h"

#include <algorithm>
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

}  // namespace

Result<UserLexicon> UserLexicon::parse(std::string_view text, std::string_view name,
                                       LexiconPhonemes wanted) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  UserLexicon lexicon;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), kBlank);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    if (replace_invalid_utf8(line) != line) {
      return fail(ErrorCode::InvalidInput, fmt::format("{}, line {}: wanted UTF-8, found {}", name,
                                                       number, in_quotes(line)));
    }
    const size_t tab = line.find('\t');
    const std::string_view word = trimmed(line.substr(0, tab), kBlank);
    const std::string_view phonemes =
        tab == std::string_view::npos ? std::string_view() : trimmed(line.substr(tab), kBlank);
    if (word.empty() || phonemes.empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, line {}: wanted a word, a tab and its phonemes, found {}", name,
                              number, in_quotes(line)));
    }
    if (word.find(' ') != std::string_view::npos) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, line {}: wanted one word without a space, found {}", name,
                              number, in_quotes(word)));
    }
    auto converted = wanted == LexiconPhonemes::AsWritten
                         ? std::string(phonemes)
                         : to_kokoro_phonemes(phonemes, wanted == LexiconPhonemes::British);
    if (!converted) {
      return std::unexpected(
          std::move(converted.error()).while_doing(fmt::format("{}, line {}", name, number)));
    }
    const std::u32string spelling = spelling_of(word);
    if (!lexicon.words_.emplace(spelling, to_code_points(*converted)).second) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, line {}: {} has an entry above already: wanted each word once",
                              name, number, in_quotes(word)));
    }
    lexicon.longest_ = std::max(lexicon.longest_, spelling.size());
  }
  return lexicon;
}

Result<UserLexicon> UserLexicon::read(const std::string& path, LexiconPhonemes wanted) {
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
