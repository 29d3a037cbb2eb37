#include "text/spoken/english_spoken.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "text/spoken/abbreviations.h"
#include "text/spoken/calendar.h"
#include "text/spoken/canonical_text.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/spoken/say_as.h"
#include "text/spoken/spoken_builder.h"
#include "text/spoken/tokens.h"
#include "text/spoken/word_tables.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::array<Reader, 18> kEnglish = {
    read_phrase, read_address, read_emoji,    read_dialect,      read_date,       read_scripture,
    read_time,   read_phone,   read_code,     read_formula,      read_money,      read_version,
    read_number, read_roman,   read_chemical, read_abbreviation, read_initialism, read_sign};

constexpr std::array<Reader, 6> kOther = {read_language_address, read_emoji,
                                          read_language_number,  read_language_roman,
                                          read_short_form,       read_whole};

// Marks that stay as they are.
bool is_kept_mark(std::string_view mark) {
  constexpr auto kMarks = std::to_array<std::string_view>(
      {".", ",", ";", ":", "!", "?", "(", ")", "\"", "\u201C", "\u201D", "\u2026", "\u2014", "-"});
  return among(kMarks, mark);
}

// Words joined by hyphens, none of them in capitals or alone: "well-known".
std::optional<Reading> read_compound(const Tokens& tokens, size_t at) {
  size_t end = at + 1;
  for (int parts = 0; parts < 8 && tokens.is(end, "-") && tokens.is_word(end + 1); ++parts) {
    const std::string_view part = tokens.text(end + 1);
    // "a post-Oct. 7 poll"
    const bool month =
        !calendar_name(part).empty() &&
        (tokens.is(end + 2, ".") || (tokens.is_space(end + 2) && tokens.is_digits(end + 3, 1, 2)));
    // "ex-Gov. Bush"
    const Abbreviation* const title = tokens.is(end + 2, ".") && is_capitalised(part)
                                          ? find_abbreviation(ascii_lower(part))
                                          : nullptr;
    const bool titled = title != nullptr && title->stop == AbbreviationStop::Never &&
                        among(WordList{"before-titles"}, ascii_lower(tokens.text(at)));
    if (part.size() < 2 || is_all_capitals(part) || month || titled) {
      break;
    }
    end += 2;
  }
  return Reading{end, std::string(tokens.text(at, end))};
}

class Normalizer {
 public:
  Normalizer(std::string_view source, const SpokenOptions& options, std::span<const TextMark> marks,
             std::span<const Reader> readers)
      : source_(source),
        options_(options),
        marks_(marks),
        readers_(readers),
        canonical_(to_canonical(source)),
        tokens_(canonical_.text, cuts()) {}

  SpokenText run() {
    for (size_t at = 0; at < tokens_.size();) {
      if (mark_ < marks_.size() && token_begin(at) >= mark_begin()) {
        at = add_mark(at);
        continue;
      }
      if (tokens_.is_space(at)) {
        builder_.add_space();
        ++at;
        continue;
      }
      const Reading reading = read(at);
      builder_.add(reading.words, source_at(at), source_at(reading.end));
      at = reading.end;
    }
    return builder_.take();
  }

 private:
  // Places in the canonical text where marks begin and end: no token crosses one.
  [[nodiscard]] std::vector<size_t> cuts() const {
    std::vector<size_t> cuts;
    for (const TextMark& mark : marks_) {
      cuts.push_back(canonical_at(mark.begin));
      cuts.push_back(canonical_at(mark.end));
    }
    return cuts;
  }

  [[nodiscard]] size_t canonical_at(size_t source) const {
    const auto& map = canonical_.source;
    const auto found = std::ranges::lower_bound(map, static_cast<uint32_t>(source));
    return static_cast<size_t>(std::min(found, map.end() - 1) - map.begin());
  }

  [[nodiscard]] size_t token_begin(size_t at) const {
    return at < tokens_.size() ? tokens_.at(at).begin : canonical_.text.size();
  }

  [[nodiscard]] size_t source_at(size_t token) const {
    return canonical_.source[token_begin(token)];
  }

  [[nodiscard]] size_t mark_begin() const { return canonical_at(marks_[mark_].begin); }

  Reading read(size_t at) const {
    for (const Reader reader : readers_) {
      std::optional<Reading> reading = reader(tokens_, at, options_);
      if (reading && !crosses_mark(reading->end)) {
        return std::move(*reading);
      }
    }
    if (tokens_.is_word(at)) {
      std::optional<Reading> compound = read_compound(tokens_, at);
      if (!crosses_mark(compound->end)) {
        return std::move(*compound);
      }
    }
    const std::string_view text = tokens_.text(at);
    const bool said = tokens_.kind(at) != Token::Kind::Mark || is_kept_mark(text) || says_marks();
    return {at + 1, said ? std::string(text) : ""};
  }

  // Other languages keep every mark: espeak-ng knows them.
  [[nodiscard]] bool says_marks() const { return readers_.size() < kEnglish.size(); }

  [[nodiscard]] bool crosses_mark(size_t end) const {
    return mark_ < marks_.size() && token_begin(end) > mark_begin();
  }

  size_t add_mark(size_t at) {
    const TextMark& mark = marks_[mark_];
    ++mark_;
    const size_t stop = canonical_at(mark.end);
    size_t end = at;
    while (end < tokens_.size() && token_begin(end) < stop) {
      ++end;
    }
    const std::string_view text = tokens_.text(at, end);
    const size_t begin = std::min(mark.begin, source_.size());
    size_t source_end = std::clamp(mark.end, begin, source_.size());
    if (mark.kind == TextMark::Kind::Phonemes) {
      builder_.add_phonemes(text, mark.value, begin, source_end);
      return end;
    }
    // Its words are English; other languages read it as text.
    if (mark.kind == TextMark::Kind::SayAs && !says_marks()) {
      if (const auto words = say_as_words(text, mark.value, mark.format, options_.dialect)) {
        builder_.add(*words, begin, source_end);
        return end;
      }
    }
    std::string value(mark.kind == TextMark::Kind::Substitute ? std::string_view(mark.value)
                                                              : text);
    // "<sub alias="World Wide Web">W3</sub>'s": what touches the word from behind belongs to it.
    if (tokens_.is(end, "'") && tokens_.is(end + 1, "s") && tokens_.ends_word(end + 2) &&
        !crosses_mark(end + 2)) {
      value += "'s";
      end += 2;
      source_end = source_at(end);
    }
    Normalizer inner(value, options_, {}, readers_);
    const SpokenText spoken = inner.run();
    for (const SpokenPiece& piece : spoken.pieces) {
      std::string words;
      if (piece.letters) {
        words = spell(std::string_view(spoken.text).substr(piece.begin, piece.end - piece.begin));
      } else {
        words = spoken.text.substr(piece.begin, piece.end - piece.begin);
      }
      builder_.add(words, begin, source_end);
    }
    return end;
  }

  std::string_view source_;
  const SpokenOptions& options_;
  std::span<const TextMark> marks_;
  std::span<const Reader> readers_;
  CanonicalText canonical_;
  Tokens tokens_;
  SpokenBuilder builder_;
  size_t mark_ = 0;  // the next one
};

// The text as it is, a piece for each run without white space; marks as above.
SpokenText pass_through(std::string_view source, const SpokenOptions& options,
                        std::span<const TextMark> marks) {
  SpokenText spoken;
  const auto add = [&](size_t begin, size_t end, std::string_view text) {
    spoken.pieces.push_back({.begin = spoken.text.size(),
                             .end = spoken.text.size() + text.size(),
                             .source_begin = begin,
                             .source_end = end,
                             .letters = false,
                             .phonemes = {}});
    spoken.text += text;
  };
  size_t at = 0;
  const auto copy_to = [&](size_t limit) {
    while (at < limit) {
      const size_t word = std::min(source.find_first_not_of(" \t\n\r", at), limit);
      spoken.text += source.substr(at, word - at);
      at = std::min(source.find_first_of(" \t\n\r", word), limit);
      if (at > word) {
        add(word, at, source.substr(word, at - word));
      }
    }
  };
  for (const TextMark& mark : marks) {
    const size_t begin = std::clamp(mark.begin, at, source.size());
    const size_t end = std::clamp(mark.end, begin, source.size());
    copy_to(begin);
    at = end;
    const std::string_view text = source.substr(begin, end - begin);
    const auto words = mark.kind == TextMark::Kind::SayAs
                           ? say_as_words(text, mark.value, mark.format, options.dialect)
                           : std::nullopt;
    std::string said(mark.kind == TextMark::Kind::Substitute ? std::string_view(mark.value) : text);
    if (words) {
      said = *words;
      std::erase(said, kLetterName);
    }
    if (!said.empty()) {
      add(begin, end, said);
      spoken.pieces.back().phonemes =
          mark.kind == TextMark::Kind::Phonemes ? mark.value : std::string();
    }
  }
  copy_to(source.size());
  return spoken;
}

}  // namespace

SpokenText spoken_english(std::string_view text, const SpokenOptions& options,
                          std::span<const TextMark> marks) {
  if (!options.normalize) {
    return pass_through(text, options, marks);
  }
  return Normalizer(text, options, marks, kEnglish).run();
}

SpokenText spoken_other(std::string_view text, const SpokenOptions& options,
                        std::span<const TextMark> marks) {
  if (!options.normalize) {
    return pass_through(text, options, marks);
  }
  SpokenOptions silent = options;
  silent.emoji = EmojiReading::Silent;
  return Normalizer(text, silent, marks, kOther).run();
}

}  // namespace mynah
