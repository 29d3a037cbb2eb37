#include "text/phonemes/open_jtalk/japanese_phonemizer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "text/phonemes/espeak/alphabets.h"
#include "text/phonemes/espeak/given_words.h"
#include "text/phonemes/open_jtalk/kana.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using open_jtalk::Morpheme;
using open_jtalk::OpenJtalkProcess;

// A space, which is no word.
constexpr std::string_view kSpace = "　";

// One character of the text, as open_jtalk is given it.
struct Given {
  char32_t character = 0;
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
};

// Open_jtalk makes full-width forms of ASCII (text2mecab.c), and writes so what it read.
char32_t full_width(char32_t character) {
  constexpr char32_t kFirst = U'!';
  constexpr char32_t kLast = U'~';
  constexpr char32_t kOffset = U'！' - U'!';
  return character == U' '                           ? U'　'
         : character >= kFirst && character <= kLast ? character + kOffset
                                                     : character;
}

std::vector<Given> characters_of(std::string_view text, size_t begin, size_t end) {
  std::vector<Given> characters;
  for (size_t at = begin; at < end;) {
    const Utf8Step step = next_code_point(text.substr(at, end - at));
    // What is a line's end, or none of a text, is a space to it.
    const bool plain = step.code_point >= U' ' && step.code_point != 0x7F;
    characters.push_back({.character = full_width(plain ? step.code_point : U' '),
                          .begin = at,
                          .end = at + step.bytes});
    at += step.bytes;
  }
  return characters;
}

bool is_mark(const Morpheme& morpheme) {
  return morpheme.kind == "記号" || morpheme.moras == 0;
}

// Whether it is said as one word with the one before: endings of verbs, counters, figures of one
// number.
bool continues(const Morpheme& before, const Morpheme& morpheme) {
  if (is_mark(before) || is_mark(morpheme)) {
    return false;
  }
  const bool verb = before.kind == "動詞" || before.kind == "形容詞" || before.kind == "助動詞";
  const bool ending = (verb && morpheme.kind == "助動詞") || morpheme.subkind == "接続助詞" ||
                      morpheme.subkind == "接尾" || morpheme.subkind == "非自立";
  const bool number = before.subkind == "数" && morpheme.subkind == "数";
  return (ending || number) && morpheme.chained;
}

// The marks that stand for a text of marks; empty where it is silent.
std::string marks_of(std::u32string_view surface) {
  std::string marks;
  for (const char32_t character : surface) {
    const std::string_view mark = open_jtalk::kokoro_mark(character);
    if (!mark.empty() && !marks.ends_with(mark)) {
      marks += mark;
    }
  }
  return marks;
}

// Where in the text each morpheme stands, by characters. Open_jtalk keeps them in order but writes
// figures in numerals: those between two that are found share what stands between.
std::vector<std::pair<size_t, size_t>> places_of(const std::vector<Morpheme>& morphemes,
                                                 const std::u32string& text) {
  std::vector<std::pair<size_t, size_t>> places(morphemes.size());
  size_t at = 0;     // characters that have their morpheme
  size_t first = 0;  // morphemes that have their place
  const auto share = [&](size_t until, size_t end) {
    for (size_t i = first; i < until; ++i) {
      places[i] = {at, end};
    }
  };
  for (size_t i = 0; i < morphemes.size(); ++i) {
    const std::u32string surface = to_code_points(morphemes[i].surface);
    const size_t found = surface.empty() ? std::u32string::npos : text.find(surface, at);
    // Behind a morpheme whose place is known only its own may follow; one of some that are not
    // known may be further on.
    if (found == std::u32string::npos || (i == first && found != at)) {
      continue;
    }
    share(i, found);
    places[i] = {found, found + surface.size()};
    at = found + surface.size();
    first = i + 1;
  }
  share(morphemes.size(), text.size());
  return places;
}

class JapanesePhonemizer final : public Phonemizer {
 public:
  explicit JapanesePhonemizer(OpenJtalkProcess process) : process_(std::move(process)) {}

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    return espeak::words_around(text, given, espeak::Alphabet::Kokoro, /*spaced=*/true,
                                [&](size_t begin, size_t end, std::vector<PhonemeWord>& words) {
                                  return add(text, begin, end, words);
                                });
  }

 private:
  // What stands in a range of the text, in pieces that open_jtalk takes.
  Status add(std::string_view text, size_t begin, size_t end,
             std::vector<PhonemeWord>& words) const {
    const std::vector<Given> characters = characters_of(text, begin, end);
    for (size_t at = 0; at < characters.size();) {
      const size_t last = piece_end(characters, at);
      MYNAH_TRY_STATUS(add_piece(text, std::span(characters).subspan(at, last - at), words));
      at = last;
    }
    return {};
  }

  // The end of the piece that begins at `at`: behind a mark, where it would be too long.
  static size_t piece_end(std::span<const Given> characters, size_t at) {
    size_t bytes = 0;
    size_t mark = 0;
    for (size_t i = at; i < characters.size(); ++i) {
      std::string utf8;
      append_utf8(utf8, characters[i].character);
      bytes += utf8.size();
      if (bytes >= OpenJtalkProcess::kLongestText) {
        return mark > at ? mark : i;
      }
      if (!open_jtalk::kokoro_mark(characters[i].character).empty()) {
        mark = i + 1;
      }
    }
    return characters.size();
  }

  Status add_piece(std::string_view text, std::span<const Given> characters,
                   std::vector<PhonemeWord>& words) const {
    std::u32string line;
    for (const Given& given : characters) {
      line += given.character;
    }
    if (std::ranges::all_of(line, is_white_space)) {
      return {};
    }
    MYNAH_TRY(const open_jtalk::Trace trace, process_.ask(to_utf8(line)));
    if (trace.morphemes.empty()) {  // marks alone
      const size_t from = characters.front().begin;
      const size_t to = characters.back().end;
      words.push_back({.text = std::string(text.substr(from, to - from)),
                       .phonemes = marks_of(line),
                       .space_after = true,
                       .begin = from,
                       .end = to});
      return {};
    }
    const auto places = places_of(trace.morphemes, line);
    for (size_t i = 0; i < trace.morphemes.size();) {
      if (trace.morphemes[i].surface == kSpace) {
        ++i;
        continue;
      }
      size_t last = i + 1;
      std::string kana = trace.morphemes[i].kana;
      while (last < trace.morphemes.size() &&
             continues(trace.morphemes[last - 1], trace.morphemes[last])) {
        kana += trace.morphemes[last++].kana;
      }
      const bool mark = is_mark(trace.morphemes[i]);
      const size_t first = std::min(places[i].first, characters.size() - 1);
      const size_t end = std::max(places[last - 1].second, first + 1);
      const size_t from = characters[first].begin;
      const size_t to = characters[std::min(end, characters.size()) - 1].end;
      std::string phonemes = mark ? marks_of(to_code_points(trace.morphemes[i].surface))
                                  : open_jtalk::kokoro_phonemes(kana);
      // A closing mark stands at the word before it, an opening one at the one behind.
      const bool opens = mark && (phonemes == "“" || phonemes == "(");
      if (mark && !opens && !phonemes.empty() && !words.empty()) {
        words.back().space_after = false;
      }
      words.push_back({.text = std::string(text.substr(from, to - from)),
                       .phonemes = std::move(phonemes),
                       .space_after = !opens,
                       .begin = from,
                       .end = to});
      i = last;
    }
    return {};
  }

  OpenJtalkProcess process_;
};

}  // namespace

Result<std::unique_ptr<Phonemizer>> japanese_phonemizer(const open_jtalk::ProgramOptions& options) {
  MYNAH_TRY(OpenJtalkProcess process, OpenJtalkProcess::start(options));
  return std::make_unique<JapanesePhonemizer>(std::move(process));
}

}  // namespace mynah
