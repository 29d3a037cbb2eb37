#include "speech/cue_atoms.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"
#include "speech/writer_parts.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {

namespace {

// Milliseconds that a reader takes for a column: 21 a second.
constexpr int64_t kReading_ms = 48;

// Characters that no line begins with, besides closing punctuation (JIS X 4051: small kana,
// lengthening and repeating marks).
constexpr std::u32string_view kNeverFirst =
    U"ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶー々ゝゞヽヾ";
constexpr std::u32string_view kOpening = U"「『（【〈《〔［｛“‘([{«¿¡";
constexpr std::u32string_view kClosing = U"」』）】〉》〕］｝”’)]}»\"'";
constexpr std::u32string_view kSentenceEnds = U".?!…。．？！؟।۔";
constexpr std::u32string_view kClauseEnds = U",;:–—、，；：،؛";

// A piece of text and when it is said, spaces at its ends as they were written.
struct TimedText {
  std::string text;
  double start_s = 0;
  double end_s = 0;
};

bool is_hangul(char32_t c) {
  return (c >= 0x1100 && c <= 0x11FF) || (c >= 0x3130 && c <= 0x318F) ||
         (c >= 0xAC00 && c <= 0xD7FF);
}

// Han and kana: lines may be broken between any two of them. Hangul is written with spaces.
bool is_spaceless(char32_t c) {
  return is_wide(c) && !is_hangul(c);
}

// Thai, Lao, Myanmar and Khmer: written without spaces, but not broken within words.
bool has_unmarked_words(char32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) ||
         (c >= 0x1780 && c <= 0x17FF);
}

// Whether a line may be broken between two letters without a space.
bool may_break(char32_t before, char32_t after) {
  if (kOpening.contains(before) || kNeverFirst.contains(after) || is_mark(after)) {
    return false;
  }
  if (is_symbol_or_punctuation(after) && !kOpening.contains(after)) {
    return false;
  }
  return is_spaceless(before) || is_spaceless(after);
}

std::vector<std::u32string> graphemes(std::u32string_view text) {
  const std::u32string spaced = separate_graphemes(text);
  std::vector<std::u32string> result;
  for (size_t begin = 0; begin < spaced.size();) {
    const size_t end = std::min(spaced.find(U' ', begin), spaced.size());
    result.push_back(spaced.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

char32_t first_of(std::string_view text) {
  return next_code_point(text).code_point;
}

char32_t last_of(std::string_view text) {
  const std::u32string code_points = to_code_points(text);
  return code_points.empty() ? U' ' : code_points.back();
}

// The bytes of a piece up to its last hyphen, dash or slash; 0 where it has none within it.
size_t bytes_to_hyphen(std::string_view piece) {
  size_t bytes = 0;
  for (const std::string_view mark : {"-", "/", "\u2010", "\u2013", "\u2014"}) {
    const size_t at = piece.rfind(mark);
    if (at != std::string_view::npos && at > 0 && at + mark.size() < piece.size()) {
      bytes = std::max(bytes, at + mark.size());
    }
  }
  return bytes;
}

// A run without spaces as the pieces between which a line may be broken, none wider than `width`:
// what is longer is cut behind a hyphen where it has one.
std::vector<std::string> pieces_of(std::string_view run, size_t width) {
  std::vector<std::string> pieces;
  size_t held = 0;  // columns of the last piece
  char32_t last = 0;
  for (const std::u32string& grapheme : graphemes(to_code_points(run))) {
    const std::string letter = to_utf8(grapheme);
    const size_t columns = column_count(letter);
    const size_t whole =
        pieces.empty() || held + columns <= width ? 0 : bytes_to_hyphen(pieces.back());
    if (whole > 0 && !may_break(last, grapheme.front())) {
      std::string rest = pieces.back().substr(whole);
      pieces.back().resize(whole);
      held = column_count(rest);
      pieces.push_back(std::move(rest));
    } else if (pieces.empty() || held + columns > width || may_break(last, grapheme.front())) {
      pieces.emplace_back();
      held = 0;
    }
    pieces.back() += letter;
    held += columns;
    last = grapheme.back();
  }
  return pieces;
}

std::string without_spaces(std::string_view text) {
  std::string result = replace_invalid_utf8(text);
  std::erase_if(result, is_ascii_space);
  return result;
}

// What of a segment has times of its own: its words where they spell its text, else all of it.
std::vector<TimedText> timed_texts(const Segment& segment, bool& timed) {
  std::string spelled;
  for (const Word& word : segment.words) {
    spelled += word.text;
  }
  timed = !segment.words.empty() && without_spaces(spelled) == without_spaces(segment.text);
  if (!timed) {
    return {{.text = segment.text, .start_s = segment.start_s, .end_s = segment.end_s}};
  }
  std::vector<TimedText> texts;
  for (const Word& word : segment.words) {
    // A letter may be spelled by several words' bytes, as tokens have them: it stays whole.
    const bool broken = !texts.empty() && incomplete_utf8_tail(texts.back().text) > 0;
    if (broken) {
      texts.back().text += word.text;
      texts.back().end_s = word.end_s;
    } else {
      texts.push_back({.text = word.text, .start_s = word.start_s, .end_s = word.end_s});
    }
  }
  return texts;
}

TextEnd end_of(std::string_view text) {
  std::u32string letters = to_code_points(text);
  while (letters.size() > 1 && kClosing.contains(letters.back())) {
    letters.pop_back();
  }
  if (letters.empty()) {
    return TextEnd::Word;
  }
  const char32_t last = letters.back();
  if (kClauseEnds.contains(last) || (last == U'-' && letters.size() == 1)) {
    return TextEnd::Clause;
  }
  // "Mr.", "J.": more of a name follows.
  constexpr size_t kLongestTitle = 3;
  const bool title = last == U'.' && letters.size() <= kLongestTitle &&
                     std::ranges::all_of(letters.substr(0, letters.size() - 1), is_cased_letter) &&
                     to_lower(letters.substr(0, 1)) != letters.substr(0, 1);
  return kSentenceEnds.contains(last) && !title ? TextEnd::Sentence : TextEnd::Word;
}

// Collects atoms, and joins what no line may be broken between.
class Atoms {
 public:
  explicit Atoms(size_t width) : width_(width) {}

  void add(const Segment& segment, size_t index) {
    bool timed = false;
    bool opens = true;
    for (const TimedText& text : timed_texts(segment, timed)) {
      add_text(text, {.timed = timed, .segment = index}, opens);
    }
  }

  std::vector<CueAtom> finish() && { return std::move(atoms_); }

 private:
  // The words of one timed text; `like` has what they share, `opens` is true until the segment has
  // one.
  void add_text(const TimedText& timed, const CueAtom& like, bool& opens) {
    std::string text = replace_invalid_utf8(timed.text);
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("\t\r\n\v\f").contains(c); }, ' ');
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    bool spaced = space_behind_ || begin > 0;
    const size_t end = text.find_last_not_of(' ') + 1;
    if (begin >= end) {
      space_behind_ = spaced;
      return;
    }
    space_behind_ = end < text.size();
    text = text.substr(begin, end - begin);  // it is said from its first letter to its last
    const auto total = static_cast<double>(column_count(text));
    const auto at = [&](size_t columns) {
      return to_milliseconds(timed.start_s +
                             (timed.end_s - timed.start_s) * static_cast<double>(columns) / total);
    };
    size_t done = 0;
    std::string_view rest = text;
    while (!rest.empty()) {
      if (rest.front() == ' ') {
        spaced = true;
        ++done;
        rest.remove_prefix(1);
        continue;
      }
      const std::string_view run = rest.substr(0, rest.find(' '));
      for (std::string& piece : pieces_of(run, width_)) {
        CueAtom atom = like;
        atom.columns = column_count(piece);
        atom.start_ms = at(done);
        done += atom.columns;
        atom.end_ms = std::max(atom.start_ms, at(done));
        atom.text = std::move(piece);
        atom.spaced = spaced || (opens && parts_segments(atom.text));
        push(std::move(atom), opens);
        opens = false;
        spaced = false;
      }
      rest.remove_prefix(run.size());
    }
  }

  // A space that nobody wrote stands between segments of a script that has spaces.
  [[nodiscard]] bool parts_segments(std::string_view text) const {
    if (atoms_.empty()) {
      return false;
    }
    const char32_t before = last_of(atoms_.back().text);
    const char32_t after = first_of(text);
    const auto has_none = [](char32_t c) { return is_spaceless(c) || has_unmarked_words(c); };
    return !has_none(before) && !has_none(after);
  }

  void push(CueAtom atom, bool opens) {
    if (!atoms_.empty() && !atom.spaced && !opens) {
      CueAtom& last = atoms_.back();
      const char32_t before = last_of(last.text);
      const char32_t after = first_of(atom.text);
      const bool apart =
          may_break(before, after) || (has_unmarked_words(before) && has_unmarked_words(after) &&
                                       atom.timed && !is_mark(after));
      if (!apart && last.columns + atom.columns <= width_) {
        last.text += atom.text;
        last.columns += atom.columns;
        last.end_ms = std::max(last.end_ms, atom.end_ms);
        last.ends = end_of(last.text);
        return;
      }
    }
    atom.ends = end_of(atom.text);
    atoms_.push_back(std::move(atom));
  }

  size_t width_;
  bool space_behind_ = false;
  std::vector<CueAtom> atoms_;
};

// Atoms that begin together get shares of the time until the next one, as long as they take to
// read at most.
void share_out_starts(std::span<CueAtom> atoms) {
  for (size_t first = 0; first < atoms.size();) {
    size_t end = first + 1;
    size_t columns = atoms[first].columns;
    int64_t said_ms = atoms[first].end_ms;
    while (end < atoms.size() && atoms[end].start_ms <= atoms[first].start_ms) {
      columns += atoms[end].columns;
      said_ms = std::max(said_ms, atoms[end].end_ms);
      ++end;
    }
    const int64_t start_ms = atoms[first].start_ms;
    const int64_t read_ms = start_ms + kReading_ms * static_cast<int64_t>(columns);
    // The last of all may be said in no time: what reading takes is theirs, wherever that ends.
    const int64_t room_ms = end < atoms.size()
                                ? std::min(atoms[end].start_ms, std::max(said_ms, read_ms))
                            : said_ms > start_ms ? said_ms
                                                 : read_ms;
    size_t done = 0;
    for (size_t i = first; end - first > 1 && i < end; ++i) {
      const auto at = [&](size_t behind) {
        return start_ms + (room_ms - start_ms) * static_cast<int64_t>(behind) /
                              static_cast<int64_t>(std::max<size_t>(1, columns));
      };
      atoms[i].start_ms = at(done);
      done += atoms[i].columns;
      atoms[i].end_ms = at(done);
    }
    first = end;
  }
}

}  // namespace

size_t column_count(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const Utf8Step step = next_code_point(text);
    count += is_wide(step.code_point) ? 2 : 1;
    text.remove_prefix(step.bytes);
  }
  return count;
}

std::vector<CueAtom> cue_atoms(const std::vector<Segment>& segments, size_t width) {
  Atoms collected(width);
  for (size_t i = 0; i < segments.size(); ++i) {
    collected.add(segments[i], i);
  }
  std::vector<CueAtom> atoms = std::move(collected).finish();
  int64_t latest_ms = 0;
  for (CueAtom& atom : atoms) {
    atom.start_ms = latest_ms = std::max(latest_ms, atom.start_ms);
    atom.end_ms = std::max(atom.end_ms, atom.start_ms);
  }
  share_out_starts(atoms);
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (atoms[i].end_ms <= atoms[i].start_ms) {
      atoms[i].end_ms = atoms[i].start_ms + kReading_ms * static_cast<int64_t>(atoms[i].columns);
    }
    if (i + 1 < atoms.size()) {
      atoms[i].end_ms = std::min(atoms[i].end_ms, atoms[i + 1].start_ms);
    }
  }
  return atoms;
}

}  // namespace mynah
