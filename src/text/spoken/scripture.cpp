#include "text/spoken/scripture.h"

#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

struct Book {
  std::string_view written;
  std::string_view spoken;  // empty: as it is written
};

constexpr std::array kBooks = std::to_array<Book>({
    {"Genesis", ""},
    {"Exodus", ""},
    {"Leviticus", ""},
    {"Numbers", ""},
    {"Deuteronomy", ""},
    {"Joshua", ""},
    {"Judges", ""},
    {"Ruth", ""},
    {"Samuel", ""},
    {"Kings", ""},
    {"Chronicles", ""},
    {"Ezra", ""},
    {"Nehemiah", ""},
    {"Esther", ""},
    {"Job", ""},
    {"Psalm", ""},
    {"Psalms", ""},
    {"Proverbs", ""},
    {"Ecclesiastes", ""},
    {"Isaiah", ""},
    {"Jeremiah", ""},
    {"Lamentations", ""},
    {"Ezekiel", ""},
    {"Daniel", ""},
    {"Hosea", ""},
    {"Joel", ""},
    {"Amos", ""},
    {"Jonah", ""},
    {"Micah", ""},
    {"Habakkuk", ""},
    {"Zechariah", ""},
    {"Malachi", ""},
    {"Matthew", ""},
    {"Mark", ""},
    {"Luke", ""},
    {"John", ""},
    {"Acts", ""},
    {"Romans", ""},
    {"Corinthians", ""},
    {"Galatians", ""},
    {"Ephesians", ""},
    {"Philippians", ""},
    {"Colossians", ""},
    {"Thessalonians", ""},
    {"Timothy", ""},
    {"Titus", ""},
    {"Hebrews", ""},
    {"James", ""},
    {"Peter", ""},
    {"Revelation", ""},
    {"Gen", "Genesis"},
    {"Ex", "Exodus"},
    {"Exod", "Exodus"},
    {"Lev", "Leviticus"},
    {"Num", "Numbers"},
    {"Deut", "Deuteronomy"},
    {"Josh", "Joshua"},
    {"Judg", "Judges"},
    {"Sam", "Samuel"},
    {"Kgs", "Kings"},
    {"Chr", "Chronicles"},
    {"Chron", "Chronicles"},
    {"Neh", "Nehemiah"},
    {"Ps", "Psalm"},
    {"Pss", "Psalms"},
    {"Prov", "Proverbs"},
    {"Eccl", "Ecclesiastes"},
    {"Isa", "Isaiah"},
    {"Jer", "Jeremiah"},
    {"Lam", "Lamentations"},
    {"Ezek", "Ezekiel"},
    {"Dan", "Daniel"},
    {"Hos", "Hosea"},
    {"Mic", "Micah"},
    {"Hab", "Habakkuk"},
    {"Zech", "Zechariah"},
    {"Mal", "Malachi"},
    {"Matt", "Matthew"},
    {"Mt", "Matthew"},
    {"Mk", "Mark"},
    {"Lk", "Luke"},
    {"Jn", "John"},
    {"Rom", "Romans"},
    {"Cor", "Corinthians"},
    {"Gal", "Galatians"},
    {"Eph", "Ephesians"},
    {"Phil", "Philippians"},
    {"Col", "Colossians"},
    {"Thess", "Thessalonians"},
    {"Tim", "Timothy"},
    {"Tit", "Titus"},
    {"Heb", "Hebrews"},
    {"Jas", "James"},
    {"Pet", "Peter"},
    {"Rev", "Revelation"},
});

// Books that are counted: "1 Samuel", "2 Cor.".
constexpr auto kCounted = std::to_array<std::string_view>(
    {"Samuel", "Kings", "Chronicles", "Corinthians", "Thessalonians", "Timothy", "Peter", "John"});

// Whether chapter and verse are at `at`: "13:4", and no time of the day ("Mark 3:30 pm").
bool is_verse(const Tokens& tokens, size_t at) {
  if (!tokens.is_digits(at, 1, 3) || !tokens.is(at + 1, ":") || !tokens.is_digits(at + 2, 1, 3) ||
      tokens.is(at + 3, ":") || tokens.text(at + 2)[0] == '0') {
    return false;
  }
  const std::string half = ascii_lower(tokens.text(tokens.skip_space(at + 3)));
  return half != "am" && half != "pm" && half != "a" && half != "p";
}

// Whether the word with a stop behind it is a book cut short; "I met Sam. 13:30 is late." has a
// name.
bool is_short_book(const Tokens& tokens, size_t at) {
  const size_t count = at > 1 && tokens.is_space(at - 1) ? at - 2 : at;
  return is_short_bible_book(tokens.text(at), tokens.is_digits(count, 1, 1));
}

// One past the book's word and its stop, where chapter and verse follow it; 0: they do not.
size_t book_end(const Tokens& tokens, size_t at) {
  if (!tokens.is_word(at) || bible_book(tokens.text(at)).empty()) {
    return 0;
  }
  const bool stop = tokens.is(at + 1, ".");
  if (stop && !is_short_book(tokens, at)) {
    return 0;
  }
  const size_t end = stop ? at + 2 : at + 1;
  return tokens.is_space(end) && is_verse(tokens, end + 1) ? end : 0;
}

// Whether a book's word, with its stop or without, stands before `at`.
bool is_behind_book(const Tokens& tokens, size_t at) {
  if (at < 2 || !tokens.is_space(at - 1)) {
    return false;
  }
  if (tokens.is(at - 2, ".") && at > 2) {
    return is_short_book(tokens, at - 3);
  }
  return tokens.is_word(at - 2) && !bible_book(tokens.text(at - 2)).empty();
}

std::optional<Reading> read_verse(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  std::string words =
      cardinal_words(tokens.text(at), dialect) + " " + cardinal_words(tokens.text(at + 2), dialect);
  size_t end = at + 3;
  const bool dash = tokens.is(end, "-") || tokens.is(end, "\u2013");
  if (dash && tokens.is_digits(end + 1, 1, 3)) {
    words += " to " + cardinal_words(tokens.text(end + 1), dialect);
    end += 2;
    // "1:1-2:3" goes on in the next chapter.
    if (tokens.is(end, ":") && tokens.is_digits(end + 1, 1, 3)) {
      words += " " + cardinal_words(tokens.text(end + 1), dialect);
      end += 2;
    }
  }
  return Reading{end, std::move(words)};
}

}  // namespace

std::string_view bible_book(std::string_view word) {
  const auto* const book = std::ranges::find(kBooks, word, &Book::written);
  if (book == kBooks.end()) {
    return {};
  }
  return book->spoken.empty() ? book->written : book->spoken;
}

bool is_short_bible_book(std::string_view word, bool counted) {
  constexpr auto kNames = std::to_array<std::string_view>({"Sam", "Tim", "Pet"});
  const std::string_view book = bible_book(word);
  return !book.empty() && book != word && (counted || !among(kNames, word));
}

std::optional<Reading> read_scripture(const Tokens& tokens, size_t at,
                                      const SpokenOptions& options) {
  if (!tokens.begins_word(at)) {
    return std::nullopt;
  }
  if (tokens.is_word(at)) {
    const size_t end = book_end(tokens, at);
    return end == 0 ? std::nullopt
                    : std::optional(Reading{end, std::string(bible_book(tokens.text(at)))});
  }
  if (is_verse(tokens, at) && is_behind_book(tokens, at)) {
    return read_verse(tokens, at, options.dialect);
  }
  constexpr auto kOrdinals = std::to_array<std::string_view>({"First", "Second", "Third"});
  const std::string_view count = tokens.text(at);
  const bool counts = count == "1" || count == "2" || count == "3";
  if (!counts || !tokens.is_space(at + 1) || book_end(tokens, at + 2) == 0 ||
      !among(kCounted, bible_book(tokens.text(at + 2)))) {
    return std::nullopt;
  }
  return Reading{at + 1, std::string(kOrdinals[digits_value(count) - 1])};
}

}  // namespace mynah
