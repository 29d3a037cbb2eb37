#include "text/documents/document_words.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/documents/raised.h"
#include "text/unicode.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(document_words, MYNAH_DOCUMENTS_FOLDER "/document_words.tsv")

namespace mynah {
namespace {

constexpr auto kKinds = std::to_array<std::pair<std::string_view, DocumentWord>>(
    {{"type-mark", DocumentWord::TypeMark},
     {"type-note", DocumentWord::TypeNote},
     {"type-notes", DocumentWord::TypeNotes},
     {"type-back", DocumentWord::TypeBack},
     {"class-mark", DocumentWord::ClassMark},
     {"class-maybe", DocumentWord::ClassMaybe},
     {"class-note", DocumentWord::ClassNote},
     {"class-notes", DocumentWord::ClassNotes},
     {"class-back", DocumentWord::ClassBack},
     {"class-capital", DocumentWord::ClassCapital},
     {"id-note", DocumentWord::IdNote},
     {"label", DocumentWord::Label},
     {"back", DocumentWord::Back},
     {"title", DocumentWord::Title},
     {"page", DocumentWord::Page},
     {"of", DocumentWord::Of},
     {"chapter", DocumentWord::Chapter},
     {"capital", DocumentWord::Capital},
     {"prefix", DocumentWord::Prefix},
     {"ending", DocumentWord::Ending},
     {"said-note", DocumentWord::SaidNote},
     {"no-speaker", DocumentWord::NoSpeaker}});

// What a label's signs are: asterisks, daggers, sections, pilcrows, bars and their doubles.
constexpr std::u32string_view kSymbols =
    U"*\u2020\u2021\u00A7\u00B6\u2016\u2217\u204E\u2051\u203B\u2051\u2731\u2605";
constexpr size_t kMostSymbols = 6;
constexpr size_t kMostDigits = 4;
constexpr size_t kMostLabelBytes = 40;
constexpr size_t kMostWordBytes = 64;

using Words = std::set<std::pair<DocumentWord, std::string>, std::less<>>;

Words read_words() {
  Words words;
  for_each_tsv_line<2>(document_words(), [&](const auto& fields) {
    const auto* const kind =
        std::ranges::find(kKinds, fields[0], &std::pair<std::string_view, DocumentWord>::first);
    MYNAH_CHECK(kind != kKinds.end(), "a kind of document_words.tsv is known");
    words.emplace(kind->second, std::string(fields[1]));
  });
  return words;
}

bool is_name(DocumentWord kind) {
  return kind <= DocumentWord::IdNote;
}

bool is_space(char32_t c) {
  return c <= U' ' || c == 0xA0 || (c >= 0x2000 && c <= 0x200F) || c == 0x202F || c == 0x2060 ||
         c == 0x3000 || c == 0xFEFF || c == 0xFE0E || c == 0xFE0F;
}

struct Brackets {
  char32_t open;
  char32_t close;
  bool square;
};

constexpr auto kBrackets = std::to_array<Brackets>({{U'[', U']', true},
                                                    {U'(', U')', false},
                                                    {U'{', U'}', true},
                                                    {U'\u3014', U'\u3015', true},
                                                    {U'\u3010', U'\u3011', true},
                                                    {U'\uFF3B', U'\uFF3D', true},
                                                    {U'<', U'>', true},
                                                    {U'\u2039', U'\u203A', true}});

// "12", "12a", "1.12", "3-4".
bool is_number(std::u32string_view text) {
  size_t digits = 0;
  size_t groups = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_ascii_digit(text[i])) {
      if (++digits > kMostDigits) {
        return false;
      }
    } else if (digits > 0 && (text[i] == U'.' || text[i] == U'-') && i + 1 < text.size() &&
               is_ascii_digit(text[i + 1]) && ++groups <= 3) {
      digits = 0;
    } else {
      return digits > 0 && i + 1 == text.size() && is_ascii_letter(text[i]);
    }
  }
  return digits > 0;
}

bool is_roman(std::u32string_view text) {
  constexpr size_t kMost = 6;
  return !text.empty() && text.size() <= kMost &&
         (text.find_first_not_of(U"ivxlc") == std::u32string_view::npos ||
          text.find_first_not_of(U"IVXLC") == std::u32string_view::npos);
}

std::u32string_view trimmed(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// The label of a text without brackets.
NoteLabel bare_label(std::u32string_view text) {
  while (text.size() > 1 && (text.back() == U'.' || text.back() == U')' || text.back() == U':')) {
    text.remove_suffix(1);
  }
  const size_t space = text.find_last_of(U" .\u00A0");
  if (space != std::u32string_view::npos && space + 1 < text.size() &&
      is_document_word(DocumentWord::Label, to_utf8(trimmed(text.substr(0, space))))) {
    text.remove_prefix(space + 1);
  }
  const bool symbols = !text.empty() && text.size() <= kMostSymbols &&
                       std::ranges::all_of(text, [](char32_t c) { return kSymbols.contains(c); });
  if (symbols) {
    return {.kind = NoteLabel::Kind::Symbol, .core = to_utf8(text)};
  }
  if (is_number(text)) {
    return {.kind = NoteLabel::Kind::Number, .core = to_utf8(text)};
  }
  if ((text.size() == 1 && is_ascii_letter(text[0])) || is_roman(text)) {
    return {.kind = NoteLabel::Kind::Letters, .core = to_utf8(text)};
  }
  return {};
}

const Words& document_words() {
  static const Words words = read_words();
  return words;
}

}  // namespace

std::string said_note(std::string_view label, std::string_view text, std::string_view language) {
  std::string primary = to_utf8(to_lower(to_code_points(language.substr(0, language.find('-')))));
  primary = primary.empty() ? "en " : primary + " ";
  const auto found = document_words().lower_bound(std::pair(DocumentWord::SaidNote, primary));
  const bool known = found != document_words().end() && found->first == DocumentWord::SaidNote &&
                     found->second.starts_with(primary);
  const bool sign =
      !label.empty() && !is_ascii_digit(label.front()) && !is_ascii_letter(label.front());
  if (label.empty() || text.empty() || (sign && !known)) {
    return std::string(text);
  }
  const std::string word = known ? found->second.substr(primary.size()) : std::string();
  return sign    ? fmt::format("{}: {}", word, text)
         : known ? fmt::format("{} {}: {}", word, label, text)
                 : fmt::format("{}. {}", label, text);
}

bool is_document_word(DocumentWord kind, std::string_view word) {
  const Words& words = document_words();
  if (word.empty() || word.size() > kMostWordBytes) {
    return false;
  }
  std::string plain = to_utf8(to_lower(to_code_points(word)));
  if (is_name(kind)) {
    std::erase_if(plain, [](char c) { return is_ascii_digit(c) || c == '-' || c == '_'; });
  }
  return words.contains(std::pair(kind, plain));
}

NoteLabel note_label(std::string_view text) {
  if (text.size() > 4 * kMostLabelBytes) {
    return {};
  }
  std::u32string points;
  bool raised = false;
  for (const char32_t c : to_code_points(text)) {
    const char digit = raised_digit(c);
    raised = raised || digit != 0;
    points += digit != 0 ? static_cast<char32_t>(digit) : c;
  }
  std::u32string_view rest = trimmed(points);
  bool square = false;
  for (const Brackets& pair : kBrackets) {
    if (rest.size() > 2 && rest.front() == pair.open && rest.back() == pair.close) {
      rest = trimmed(rest.substr(1, rest.size() - 2));
      square = pair.square;
      break;
    }
  }
  NoteLabel label = bare_label(rest);
  label.square = square;
  label.raised = raised;
  return label;
}

size_t label_length(std::string_view text, std::string_view core) {
  const std::string_view begin = trim_unicode_space(text);
  size_t at = 0;
  const auto skip = [&](std::string_view characters) {
    while (at < begin.size() && characters.contains(begin[at])) {
      ++at;
    }
  };
  skip("[({ ");
  const std::string_view behind = begin.substr(at);
  if (core.empty() || !behind.starts_with(core)) {
    return 0;
  }
  at += core.size();
  if (at < begin.size()) {
    const bool symbol = !is_ascii_digit(core.front()) && !is_ascii_letter(core.front());
    const bool word = is_ascii_digit(begin[at]) || is_ascii_letter(begin[at]);
    if (!symbol && (word || std::string_view("',%-/").contains(begin[at]))) {
      return 0;
    }
    if (symbol && begin.substr(at).starts_with(core)) {
      return 0;  // "**" is another label than "*"
    }
  }
  skip("]).:} \n");
  return static_cast<size_t>(begin.data() - text.data()) + at;
}

std::optional<WordedNote> worded_note(std::string_view text) {
  const size_t colon = text.substr(0, 2 * kMostLabelBytes).find(':');
  if (!text.starts_with('[') || colon == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view inner = text.substr(1, colon - 1);
  const size_t space = inner.find(' ');
  const std::string_view word = inner.substr(0, space);
  const NoteLabel label =
      space == std::string_view::npos ? NoteLabel{} : note_label(inner.substr(space));
  // "[Note: ...]" may be a stage's.
  const bool alone =
      space == std::string_view::npos && is_document_word(DocumentWord::ClassNote, word);
  const bool numbered = label && is_document_word(DocumentWord::Label, word);
  constexpr size_t kShortest = 4;  // "[n 3: ..." is something else
  if (word.size() < kShortest || (!numbered && !alone)) {
    return std::nullopt;
  }
  return WordedNote{.label = label, .length = colon + 1};
}

bool is_back_text(std::string_view text) {
  std::u32string plain;
  for (const char32_t c : to_code_points(trim_unicode_space(text.substr(0, 4 * kMostLabelBytes)))) {
    // Calibre has the note's number behind its arrow.
    const bool bracket = c == U'[' || c == U']' || c == U'(' || c == U')' || c == U'.' ||
                         (is_ascii_digit(c) && !plain.empty() && plain.front() >= 0x80);
    if (!bracket && c != 0xFE0E && c != 0xFE0F && c != 0x200D && c != U'\n') {
      plain += c;
    }
  }
  const std::u32string_view core = trimmed(plain);
  // Several arrows are of several marks.
  const bool alike = !core.empty() && std::ranges::all_of(core, [&](char32_t c) {
    return c == core.front() || is_space(c);
  });
  return is_document_word(DocumentWord::Back, to_utf8(alike ? core.substr(0, 1) : core));
}

bool is_notes_title(std::string_view text) {
  // MediaWiki has "[edit]" behind it.
  std::string_view title = trim_unicode_space(text.substr(0, text.find('[', 1)));
  while (!title.empty() && std::string_view(":.*-[]() ").contains(title.back())) {
    title.remove_suffix(1);
  }
  while (!title.empty() && std::string_view("[(*- ").contains(title.front())) {
    title.remove_prefix(1);
  }
  return is_document_word(DocumentWord::Title, title);
}

std::string_view trim_unicode_space(std::string_view text) {
  const auto space_bytes = [](std::string_view at) -> size_t {
    const auto first = static_cast<unsigned char>(at.front());
    if (first < 0x80) {
      return first <= ' ' ? 1 : 0;
    }
    const size_t length = first < 0xE0 ? 2 : 3;
    const std::string_view character = at.substr(0, length);
    const auto points = to_code_points(character);
    return points.size() == 1 && is_space(points[0]) ? length : 0;
  };
  while (!text.empty()) {
    const size_t bytes = space_bytes(text);
    if (bytes == 0) {
      break;
    }
    text.remove_prefix(std::min(bytes, text.size()));
  }
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) {
      --begin;
    }
    if (space_bytes(text.substr(begin)) != text.size() - begin) {
      break;
    }
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

}  // namespace mynah
