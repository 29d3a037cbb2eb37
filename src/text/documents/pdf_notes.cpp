// Footnotes of a PDF: which lines they are, and their marks.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/documents/document_words.h"
#include "text/documents/pdf_layout.h"
#include "text/documents/pdf_words.h"
#include "text/documents/raised.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Notes are smaller than the text: 10 points below 11 is the least that is usual.
constexpr double kNoteHeight = 0.95;
// Sizes that differ by less are one.
constexpr double kSameHeight = 0.03;

// The size of the text: the largest that much of the document has, as notes may be the most of it.
double body_height(const std::vector<PdfPage>& pages) {
  std::map<double, size_t> bytes;
  size_t all = 0;
  for (const PdfPage& page : pages) {
    for (const PdfLine& line : page.lines) {
      if (!line.left_out) {
        bytes[line.height] += line.text.size();
        all += line.text.size();
      }
    }
  }
  constexpr size_t kMuch = 5;  // a fifth
  double body = 0;
  for (const auto& [height, count] : bytes) {
    size_t near = 0;
    for (auto at = bytes.lower_bound(height * (1 - kSameHeight));
         at != bytes.end() && at->first <= height * (1 + kSameHeight); ++at) {
      near += at->second;
    }
    body = near * kMuch >= all ? height : body;
  }
  return body;
}

bool overlaps(const PdfLine& a, const PdfLine& b) {
  return a.x0 < b.x1 && b.x0 < a.x1;
}

bool beside(const PdfLine& a, const PdfLine& b) {
  return a.y0 < b.y1 && b.y0 < a.y1 && !overlaps(a, b);
}

std::string raised_label(const std::string& core) {
  return raised(core).value_or(std::string());
}

bool ends_in_stop(std::string_view text) {
  return !text.empty() && std::string_view(".!?\")").contains(text.back());
}

class PageNotes;

// A mark in a line, and its note.
struct Mark {
  size_t line = 0;
  size_t begin = 0;
  size_t bytes = 0;
  const PageNotes* page = nullptr;  // that has the note
  size_t note = 0;
};

class PageNotes {
 public:
  // `open` is the last note of the page before, where it can go on here.
  // `before` is the page before: a note may stand on the page behind its mark.
  PageNotes(PdfPage& page, double body, const PdfLineJoiner& lines, PageNotes* before)
      : page_(page), body_(body), lines_(lines), before_(before), foot_(page.lines.size(), false) {}

  void find() {
    constexpr size_t kMostLines = 1000;  // more are a poster, or hostile
    if (page_.lines.size() > kMostLines) {
      return;
    }
    find_foot();
    for (size_t i = 0; i < page_.lines.size(); ++i) {
      if (foot_[i] && !page_.lines[i].left_out) {
        take(i);
      }
    }
  }

  // What a note of the page before goes on with; it is taken from here.
  [[nodiscard]] std::string take_rest() {
    std::string rest;
    for (const size_t i : leading_) {
      page_.lines[i].left_out = true;
      if (rest.empty()) {
        rest = page_.lines[i].text;
      } else {
        lines_.append(rest, page_.lines[i].text, " ");
      }
    }
    return rest;
  }

  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

  [[nodiscard]] std::vector<PdfNote>& notes() { return notes_; }

  [[nodiscard]] const std::vector<PdfNote>& notes() const { return notes_; }

 private:
  [[nodiscard]] bool is_small(const PdfLine& line) const {
    return line.height < kNoteHeight * body_;
  }

  // Small lines with no line of the text below them; and what stands below a raised label that
  // begins a line in the lower half, where its mark stands above.
  void find_foot() {
    for (size_t i = 0; i < page_.lines.size(); ++i) {
      const PdfLine& line = page_.lines[i];
      foot_[i] = !line.left_out && is_small(line) &&
                 std::ranges::none_of(page_.lines, [&](const PdfLine& other) {
                   return !other.left_out && !is_small(other) && other.y0 > line.y0 &&
                          overlaps(other, line);
                 });
    }
    for (size_t i = 0; i < page_.lines.size(); ++i) {
      const PdfLine& line = page_.lines[i];
      if (line.left_out || foot_[i] || line.y0 < page_.height / 2 || !begins_note(line)) {
        continue;
      }
      for (size_t k = 0; k < page_.lines.size(); ++k) {
        const PdfLine& other = page_.lines[k];
        foot_[k] = foot_[k] || (!other.left_out && other.y0 >= line.y0 && overlaps(other, line));
      }
      return;
    }
  }

  // A line as large as the text: its label is raised, or a number whose mark is no power above.
  [[nodiscard]] bool begins_note(const PdfLine& line) const {
    const std::string word = first_word(line.text);
    const NoteLabel label = note_label(word);
    const auto mark =
        label && word.size() < line.text.size() ? find_mark(label.core, line.y0) : std::nullopt;
    if (!mark || label.raised) {
      return mark.has_value();
    }
    const std::string_view before =
        std::string_view(page_.lines[mark->line].text).substr(0, mark->begin);
    return label.kind == NoteLabel::Kind::Number && !before.empty() && before.back() != ' ' &&
           !takes_powers(before);
  }

  static std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

  // The label that a line begins with, where the text above has its mark: as a line of its own
  // beside it or as its first word.
  void take(size_t i) {
    PdfLine& line = page_.lines[i];
    if (const auto pending = std::exchange(pending_, std::nullopt)) {
      if (beside(page_.lines[*pending], line)) {
        begin(note_label(page_.lines[*pending].text).core, line.text, line.y0);
        page_.lines[*pending].left_out = true;
        line.left_out = true;
        return;
      }
    }
    const std::string word = first_word(line.text);
    const NoteLabel label = note_label(word);
    if (follows(label) && (find_mark(label.core, line.y0) || is_of_page_before(label.core))) {
      if (word.size() == line.text.size()) {
        pending_ = i;
        return;
      }
      begin(label.core, line.text.substr(word.size() + 1), line.y0);
      line.left_out = true;
      return;
    }
    if (notes_.empty()) {
      leading_.push_back(i);
      return;
    }
    lines_.append(notes_.back().text, line.text, " ");
    line.left_out = true;
  }

  // Numbers count; what a note's line begins with by chance does not.
  [[nodiscard]] bool follows(const NoteLabel& label) const {
    if (!label || notes_.empty()) {
      return static_cast<bool>(label);
    }
    const std::string& before = notes_.back().label;
    const bool numbers = label.kind == NoteLabel::Kind::Number && is_ascii_digit(before.front());
    return !numbers || std::atol(label.core.c_str()) == std::atol(before.c_str()) + 1;
  }

  void begin(const std::string& label, std::string text, double y) {
    PageNotes* marked = this;
    auto mark = find_mark(label, y);
    if (!mark && is_of_page_before(label)) {
      marked = before_;
      mark = before_->find_mark(label, before_->page_.height);
    }
    if (!mark) {
      return;
    }
    mark->page = this;
    mark->note = notes_.size();
    marked->marks_.push_back(*mark);
    notes_.push_back({.label = label, .text = std::move(text)});
  }

  // The first note of a page may be one that had no room on the page of its mark.
  [[nodiscard]] bool is_of_page_before(const std::string& label) const {
    return before_ != nullptr && notes_.empty() && before_->find_mark(label, before_->page_.height);
  }

  // The first mark behind those that are taken, in a line above `y`.
  [[nodiscard]] std::optional<Mark> find_mark(const std::string& core, double y) const {
    for (const bool plain : {false, true}) {
      for (size_t i = 0; i < page_.lines.size(); ++i) {
        const PdfLine& line = page_.lines[i];
        if (line.left_out || foot_[i] || line.y0 >= y) {
          continue;
        }
        for (size_t at = 0; at < line.text.size(); ++at) {
          const size_t bytes = mark_length(line.text, at, core, plain);
          const bool taken = std::ranges::any_of(
              marks_, [&](const Mark& mark) { return mark.line == i && mark.begin == at; });
          if (bytes > 0 && !taken) {
            return Mark{.line = i, .begin = at, .bytes = bytes};
          }
        }
      }
    }
    return std::nullopt;
  }

  // "¹", "[1]", "*"; of plain ones the "1" of "valley.1". In bytes.
  static size_t mark_length(const std::string& text, size_t at, const std::string& core,
                            bool plain) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with("[" + core + "]")) {
      return core.size() + 2;
    }
    const std::string above = raised_label(core);
    if (at == 0 && above.empty()) {
      return 0;
    }
    const auto before = at == 0 ? 0 : static_cast<unsigned char>(text[at - 1]);
    if (!above.empty()) {
      const auto is_raised = [](std::string_view part) {
        const std::u32string points = to_code_points(part.substr(0, 4));
        return !points.empty() && raised_digit(points[0]) != 0;
      };
      if (rest.starts_with(above) && !is_raised(rest.substr(above.size())) &&
          !(at >= 2 && is_raised(std::string_view(text).substr(at - 2))) &&
          !(at >= 3 && is_raised(std::string_view(text).substr(at - 3)))) {
        return above.size();
      }
      const bool behind_word = at > 0 && (is_ascii_letter(text[at - 1]) || before >= 0x80 ||
                                          std::string_view(".,;:!?\")").contains(text[at - 1]));
      const bool number = at >= 2 && is_ascii_digit(text[at - 2]);  // "3.1"
      const std::string_view behind = rest.substr(std::min(core.size(), rest.size()));
      return plain && behind_word && !number && rest.starts_with(core) &&
                     (behind.empty() || behind.front() == ' ')
                 ? core.size()
                 : 0;
    }
    const bool symbol = !is_ascii_letter(core.front());
    return symbol && before > ' ' && rest.starts_with(core) &&
                   !rest.substr(core.size()).starts_with(core) &&
                   !std::string_view(text).substr(0, at).ends_with(core)
               ? core.size()
               : 0;
  }

  PdfPage& page_;
  double body_;
  const PdfLineJoiner& lines_;
  PageNotes* before_;
  std::vector<bool> foot_;         // of each line, whether it can be of a note
  std::optional<size_t> pending_;  // a line that is a label
  std::vector<size_t> leading_;    // of the foot, before the first label
  std::vector<PdfNote> notes_;
  std::vector<Mark> marks_;  // in this page
};

// Raised numbers that are no powers: marks of notes that stand elsewhere, such as at the end.
void erase_marks(std::string& text) {
  const std::u32string points = to_code_points(text);
  std::string kept;
  bool erased = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (raised_digit(points[i]) == 0) {
      erased = false;
      append_utf8(kept, points[i]);
      continue;
    }
    const bool begins = i == 0 || raised_digit(points[i - 1]) == 0;
    const bool signed_power = i > 0 && (points[i - 1] == U'\u207B' || points[i - 1] == U'\u207A');
    erased = begins ? !signed_power && !takes_powers(kept) : erased;
    if (!erased) {
      append_utf8(kept, points[i]);
    }
  }
  const size_t begin = kept.find_first_not_of(' ');
  text = begin == std::string::npos ? std::string() : kept.substr(begin);
}

void replace_marks(PdfPage& page, std::vector<Mark> marks, NoteReading how) {
  // From behind, so that places stay right.
  std::ranges::sort(marks, [](const Mark& a, const Mark& b) {
    return std::pair(a.line, a.begin) > std::pair(b.line, b.begin);
  });
  for (const Mark& mark : marks) {
    const PdfNote& note = mark.page->notes()[mark.note];
    const std::string text = how == NoteReading::End      ? "[" + note.label + "]"
                             : how == NoteReading::Inline ? " (" + note.text + ")"
                                                          : std::string();
    page.lines[mark.line].text.replace(mark.begin, mark.bytes, text);
  }
}

}  // namespace

void take_footnotes(std::vector<PdfPage>& pages, NoteReading how, const PdfLineJoiner& lines) {
  const double body = body_height(pages);
  std::vector<PageNotes> found;
  found.reserve(pages.size());
  PdfNote* last = nullptr;  // the last note of the page before
  for (PdfPage& page : pages) {
    PageNotes* const before = found.empty() ? nullptr : &found.back();
    PageNotes& notes = found.emplace_back(page, body, lines, before);
    notes.find();
    if (last != nullptr && !ends_in_stop(last->text)) {
      if (const std::string rest = notes.take_rest(); !rest.empty()) {
        lines.append(last->text, rest, " ");
      }
    }
    last = notes.notes().empty() ? nullptr : &notes.notes().back();
  }
  for (PageNotes& page : found) {
    for (PdfNote& note : page.notes()) {
      erase_marks(note.text);
    }
  }
  for (size_t i = 0; i < pages.size(); ++i) {
    replace_marks(pages[i], found[i].marks(), how);
    for (PdfLine& line : pages[i].lines) {
      erase_marks(line.text);
    }
  }
  for (size_t i = 0; i < pages.size() && how == NoteReading::End; ++i) {
    pages[i].notes = std::move(found[i].notes());
  }
}

}  // namespace mynah
