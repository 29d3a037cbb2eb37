// Emoji by their names, data/emoji.tsv, and faces of ASCII, data/emoticons.tsv.
#include <string>
#include <string_view>

#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr size_t kMostRepeats = 64;
constexpr size_t kMostParts = 8;        // joined to one emoji; a family of four has four
constexpr size_t kLongestEmoticon = 4;  // in tokens
constexpr std::string_view kJoiner = "\u200D";

char32_t code_point_at(const Tokens& tokens, size_t at) {
  return tokens.kind(at) == Token::Kind::Mark ? next_code_point(tokens.text(at)).code_point : 0;
}

bool between(char32_t c, char32_t low, char32_t high) {
  return c >= low && c <= high;
}

bool is_regional(char32_t c) {
  return between(c, 0x1F1E6, 0x1F1FF);
}

// What is not read as a sign where it has no name, but left out. Sharps, flats and naturals are
// read as signs.
bool is_emoji(char32_t c) {
  if (between(c, 0x266D, 0x266F)) {
    return false;
  }
  return between(c, 0x1F000, 0x1FAFF) || between(c, 0x2600, 0x27BF) || between(c, 0x2B00, 0x2BFF) ||
         between(c, 0x2300, 0x23FF) || between(c, 0x25A0, 0x25FF);
}

// One emoji with all that is joined to it.
struct Sequence {
  size_t end = 0;          // one past its tokens
  std::string characters;  // without skin tones
};

Sequence sequence_at(const Tokens& tokens, size_t at) {
  Sequence sequence{.end = at, .characters = {}};
  const auto take = [&](size_t count) {
    sequence.characters += tokens.text(sequence.end, sequence.end + count);
    sequence.end += count;
  };
  if (is_regional(code_point_at(tokens, at)) && is_regional(code_point_at(tokens, at + 1))) {
    take(2);
    return sequence;
  }
  take(1);
  for (size_t parts = 1; parts < kMostParts; ++parts) {
    if (between(code_point_at(tokens, sequence.end), 0x1F3FB, 0x1F3FF)) {
      ++sequence.end;
    }
    if (!tokens.is(sequence.end, kJoiner) || code_point_at(tokens, sequence.end + 1) == 0) {
      break;
    }
    take(2);
  }
  return sequence;
}

// Of what is joined and has no name together the first that has one.
std::string_view name_of(std::string_view characters) {
  while (true) {
    if (const TableRow* const row = find_row(WordTable::Emoji, characters)) {
      return (*row)[1];
    }
    const size_t joined = characters.rfind(kJoiner);
    if (joined == std::string_view::npos) {
      return {};
    }
    characters = characters.substr(0, joined);
  }
}

std::optional<Reading> read_emoticon(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  if (at > 0 && !tokens.is_space(at - 1)) {
    return std::nullopt;
  }
  size_t end = at;
  while (end - at <= kLongestEmoticon && !tokens.is_space(end) && !tokens.is_end(end)) {
    ++end;
  }
  const TableRow* const row = find_row(WordTable::Emoticons, tokens.text(at, end));
  if (row == nullptr) {
    return std::nullopt;
  }
  return Reading{end, options.emoji == EmojiReading::Silent ? "" : std::string((*row)[1])};
}

}  // namespace

std::optional<Reading> read_emoji(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  constexpr char32_t kFirst = 0x2300;  // those before are signs
  const char32_t c = code_point_at(tokens, at);
  if (c < kFirst) {
    return read_emoticon(tokens, at, options);
  }
  const Sequence sequence = sequence_at(tokens, at);
  const std::string_view name = name_of(sequence.characters);
  if (name.empty() && !is_emoji(c)) {
    return std::nullopt;
  }
  // The same one several times is said once.
  size_t end = sequence.end;
  for (size_t repeats = 0; repeats < kMostRepeats; ++repeats) {
    const Sequence next = sequence_at(tokens, end);
    if (next.characters != sequence.characters) {
      break;
    }
    end = next.end;
  }
  return Reading{end, options.emoji == EmojiReading::Silent ? "" : std::string(name)};
}

}  // namespace mynah
