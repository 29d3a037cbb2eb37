#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/ascii.h"
#include "text/documents/document.h"
#include "text/documents/document_words.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Some twenty minutes of speech.
constexpr size_t kMostPartBytes = 20000;
// A line that is longer is no heading.
constexpr size_t kMostHeadingBytes = 100;

constexpr std::array<std::string_view, 3> kNumbered = {"chapter", "part", "book"};
constexpr std::array<std::string_view, 9> kNamed = {"prologue", "epilogue", "introduction",
                                                    "preface",  "foreword", "afterword",
                                                    "contents", "appendix", "acknowledgements"};
constexpr std::array<std::string_view, 20> kNumberWords = {
    "one",     "two",     "three",     "four",     "five",     "six",      "seven",
    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

// Ends of lines stay: a note's text has them.
std::string_view trimmed_line(std::string_view line) {
  return trimmed(line, " \t\r\f\v");
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t.:,-"));
}

bool is_count(const std::string& word) {
  const auto all_of = [&word](std::string_view letters) {
    return !word.empty() && word.find_first_not_of(letters) == std::string::npos;
  };
  return all_of("0123456789") || all_of("ivxlc") ||
         std::ranges::find(kNumberWords, word) != kNumberWords.end();
}

bool is_heading(std::string_view line) {
  if (line.empty() || line.size() > kMostHeadingBytes) {
    return false;
  }
  const std::string text = ascii_lower(line);
  const std::string_view word = first_word(text);
  if (std::ranges::find(kNamed, word) != kNamed.end()) {
    return word.size() == text.size() || text[word.size()] != ' ';
  }
  if (std::ranges::find(kNumbered, word) == kNumbered.end() || word.size() + 1 >= text.size()) {
    return false;
  }
  return is_count(std::string(first_word(trimmed_line(text.substr(word.size() + 1)))));
}

struct Paragraph {
  std::string text;
  bool heading = false;
  std::vector<std::string> notes{};  // that it marks, as they are read at the end of its chapter
};

// Lines that follow each other are one paragraph: texts are often wrapped.
std::vector<Paragraph> paragraphs_of(std::string_view text) {
  std::vector<Paragraph> paragraphs;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed_line(text.substr(at, end - at));
    at = end + 1;
    if (line.empty()) {
      open = false;
      continue;
    }
    if (open && !paragraphs.back().heading) {
      paragraphs.back().text += "\n" + std::string(line);
    } else if (open) {
      paragraphs.push_back({.text = std::string(line)});
    } else {
      paragraphs.push_back({.text = std::string(line), .heading = is_heading(line)});
    }
    open = true;
  }
  return paragraphs;
}

// "[Footnote 12: Text]", as Project Gutenberg's plain texts have them.
struct TextNote {
  size_t first = 0;  // paragraphs
  size_t last = 0;
  std::string label{};
  std::string text{};
};

// The note that begins with a paragraph: up to the one that ends with its bracket, a few further on
// at most.
std::optional<TextNote> note_at(std::span<const Paragraph> paragraphs, size_t first) {
  constexpr size_t kMostParagraphs = 12;
  const std::string& begin = paragraphs[first].text;
  const auto worded = worded_note(begin);
  if (!worded) {
    return std::nullopt;
  }
  TextNote note{.first = first, .label = worded->label.core, .text = begin.substr(worded->length)};
  for (size_t i = first; i < paragraphs.size() && i < first + kMostParagraphs; ++i) {
    note.text += i > first ? "\n" + paragraphs[i].text : "";
    if (note.text.ends_with(']')) {
      note.text.pop_back();
      note.text = trimmed_line(note.text);
      note.last = i;
      return note;
    }
  }
  return std::nullopt;
}

// Takes the marks "[12]" of notes out, each the last before its note, and the notes.
void take_notes(std::vector<Paragraph>& paragraphs, NoteReading how) {
  std::vector<Paragraph> kept;
  for (size_t i = 0; i < paragraphs.size(); ++i) {
    const auto note = note_at(paragraphs, i);
    if (!note) {
      kept.push_back(std::move(paragraphs[i]));
      continue;
    }
    i = note->last;
    if (!kept.empty() && is_notes_title(kept.back().text)) {
      kept.pop_back();
    }
    const std::string mark = "[" + (note->label.empty() ? "*" : note->label) + "]";
    const auto marked =
        std::ranges::find_if(kept.rbegin(), kept.rend(),
                             [&](const Paragraph& text) { return text.text.contains(mark); });
    if (marked == kept.rend()) {
      if (how != NoteReading::Skip) {
        kept.push_back({.text = note->text});
      }
      continue;
    }
    const std::string inlined = how == NoteReading::Inline ? " (" + note->text + ")" : "";
    marked->text.replace(marked->text.rfind(mark), mark.size(), inlined);
    if (how == NoteReading::End) {
      marked->notes.push_back(said_note(note->label, note->text));
    }
  }
  paragraphs = std::move(kept);
}

}  // namespace

Document read_plain_text(std::string_view text, NoteReading how) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  Document document;
  std::vector<Paragraph> paragraphs = paragraphs_of(replace_invalid_utf8(text));
  take_notes(paragraphs, how);
  std::vector<std::string> notes;  // of the chapter
  const auto end_chapter = [&] {
    for (const std::string& note : std::exchange(notes, {})) {
      document.chapters.back().text += "\n\n" + note;
    }
  };
  for (Paragraph& paragraph : paragraphs) {
    auto& chapters = document.chapters;
    if (chapters.empty() || paragraph.heading ||
        chapters.back().text.size() + paragraph.text.size() > kMostPartBytes) {
      end_chapter();
      chapters.push_back({.title = paragraph.heading ? paragraph.text : std::string(), .text = {}});
    }
    std::string& out = chapters.back().text;
    out += (out.empty() ? "" : "\n\n") + paragraph.text;
    notes.insert(notes.end(), paragraph.notes.begin(), paragraph.notes.end());
  }
  end_chapter();
  return document;
}

}  // namespace mynah
