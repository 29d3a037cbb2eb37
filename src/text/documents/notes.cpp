#include "text/documents/notes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/documents/html.h"
#include "text/utf8.h"

namespace mynah {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

bool is_punctuation(char c) {
  return std::string_view(".,;:!?)]").contains(c);
}

}  // namespace

size_t NoteFinder::add_page(std::string path, std::string text, bool beside) {
  const size_t index = pages_.size();
  Page page{.path = std::move(path),
            .text = std::move(text),
            .outline = {},
            .beside = beside,
            .targets = {}};
  page.outline = outline_of(page.text);
  page.targets.resize(page.outline.elements.size());
  for (size_t i = 0; i < page.outline.elements.size(); ++i) {
    if (page.outline.elements[i].heading > 0) {
      page.headings.push_back(i);
    }
  }
  for (const auto& [id, place] : page.outline.places) {
    const auto [known, fresh] = places_.try_emplace(id, Place{.page = index, .element = place});
    if (!fresh) {
      known->second = {};  // which of the two is meant nobody knows
    }
  }
  paths_.emplace(page.path, index);
  pages_.push_back(std::move(page));
  cuts_.emplace_back();
  inner_.emplace_back();
  return index;
}

void NoteFinder::find() {
  for (size_t page = 0; page < pages_.size(); ++page) {
    collect_marks(page);
  }
  pair_marks();
  take_unlinked();
  for (size_t page = 0; page < pages_.size(); ++page) {
    take_raised(page);
    take_worded(page);
    add_declared(page);
    join_gaps(page);
    cut_raised_brackets(page);
  }
  cut_marks();
  take_labels();
  for (size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    cuts_[note.page].push_back({.begin = note.begin,
                                .end = note.end,
                                .of_note = pages_[note.page].outline.elements[note.block].block,
                                .block = parts_text(note.page, note.block),
                                .notes = {i}});
  }
  for (size_t page = 0; page < pages_.size(); ++page) {
    merge_cuts(page);
    cut_headings(page);
    merge_cuts(page);
  }
}

// A block within a paragraph leaves the paragraph whole.
bool NoteFinder::parts_text(size_t page, size_t index) const {
  const HtmlOutline& outline = pages_[page].outline;
  if (!outline.elements[index].block) {
    return false;
  }
  for (size_t i = outline.elements[index].parent; i != kNone; i = outline.elements[i].parent) {
    if (outline.elements[i].name == "p") {
      return false;
    }
  }
  return true;
}

void NoteFinder::cut_marks() {
  for (const Mark& mark : marks_) {
    if (!mark.taken) {
      continue;
    }
    const Page& page = pages_[mark.place.page];
    const OutlineElement& self = element(mark.place);
    // A word that is a link to its note is read.
    const std::string_view said = page.outline.text_of(self);
    const bool word = mark.by_type && !mark.label && !mark.raised && !mark.label.square &&
                      !said.starts_with('[') && std::ranges::count_if(said, is_ascii_letter) > 1;
    const size_t begin = word ? self.end : self.begin;
    Cut cut{.begin = begin, .end = self.end};
    if (mark.note != kNone) {
      cut.notes.push_back(mark.note);
    }
    if (!word) {
      for (size_t i = self.parent; !page.outline.elements[i].block;
           i = page.outline.elements[i].parent) {
        const std::string_view around = page.outline.text_of(page.outline.elements[i]);
        const std::string_view text = page.outline.text_of(self);
        const size_t at = around.find(text);
        const auto is_frame = [](std::string_view rest) {
          return rest.find_first_not_of(" \t\r\n[]()") == std::string_view::npos;
        };
        if (at == std::string_view::npos || !is_frame(around.substr(0, at)) ||
            !is_frame(around.substr(at + text.size()))) {
          break;
        }
        cut.begin = page.outline.elements[i].begin;
        cut.end = page.outline.elements[i].end;
      }
    }
    cuts_[mark.place.page].push_back(std::move(cut));
  }
}

// "[citation needed]", ": 12" (a page behind a reference), raised.
void NoteFinder::cut_raised_brackets(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  for (size_t i = 1; i < outline.elements.size(); ++i) {
    const OutlineElement& self = outline.elements[i];
    const std::string_view text = trim_unicode_space(outline.text_of(self));
    constexpr size_t kMostBytes = 200;
    const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
    const bool page_number = self.role == NoteRole::MaybeMark && text.starts_with(':');
    if (!self.block && self.raised && text.size() < kMostBytes && (bracketed || page_number)) {
      bool linked = false;
      for (size_t k = i + 1; k < outline.elements.size() && outline.is_within(k, i); ++k) {
        const auto mark = marks_at_.find({page, k});
        linked = linked || (mark != marks_at_.end() && marks_[mark->second].note != kNone);
      }
      if (!linked) {
        cuts_[page].push_back({.begin = self.begin, .end = self.end});
      }
    }
  }
}

// Brackets around a mark go with it.
void NoteFinder::widen(const Page& page, Cut& cut) const {
  const std::string& text = page.text;
  const auto space_before = [&] {
    size_t at = cut.begin;
    while (at > 0 && is_ascii_space(text[at - 1])) {
      --at;
    }
    return at;
  };
  const size_t before = space_before();
  size_t after = cut.end;
  while (after < text.size() && is_ascii_space(text[after])) {
    ++after;
  }
  if (before > 0 && after < text.size() &&
      ((text[before - 1] == '[' && text[after] == ']') ||
       (text[before - 1] == '(' && text[after] == ')'))) {
    cut.begin = before - 1;
    cut.end = after + 1;
  }
  if (cut.end < text.size() && is_punctuation(text[cut.end])) {
    cut.begin = space_before();
  }
}

// Puts them in order, each once: marks within a note's are kept for its own text.
void NoteFinder::merge_cuts(size_t page) {
  std::vector<Cut>& cuts = cuts_[page];
  const std::string& text = pages_[page].text;
  std::ranges::sort(cuts, [](const Cut& a, const Cut& b) {
    return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
  });
  std::vector<Cut> merged;
  for (Cut& cut : cuts) {
    if (!merged.empty() && cut.begin < merged.back().end) {
      Cut& outer = merged.back();
      const bool is_note = outer.of_note || std::ranges::any_of(outer.notes, [&](size_t note) {
                             return notes_[note].page == page &&
                                    notes_[note].begin >= outer.begin &&
                                    notes_[note].end <= outer.end;
                           });
      if (!cut.of_note && is_note) {
        inner_[page].push_back(std::move(cut));
        continue;
      }
      // What is said of a section's notes is said of those within it.
      outer.end = std::max(outer.end, cut.end);
      outer.of_note = outer.of_note || cut.of_note;
      outer.block = outer.block || cut.block;
      outer.notes.insert(outer.notes.end(), cut.notes.begin(), cut.notes.end());
      continue;
    }
    const std::string_view between =
        merged.empty()
            ? std::string_view()
            : std::string_view(text).substr(merged.back().end, cut.begin - merged.back().end);
    // "1, 2" is one mark.
    constexpr size_t kMostBetween = 8;
    if (!merged.empty() && !merged.back().of_note && !cut.of_note && !between.empty() &&
        between.size() < kMostBetween &&
        between.find_first_not_of(" \t\r\n,;-") == std::string_view::npos &&
        between.find_first_of(",;-") != std::string_view::npos) {
      merged.back().end = cut.end;
      merged.back().notes.insert(merged.back().notes.end(), cut.notes.begin(), cut.notes.end());
      continue;
    }
    merged.push_back(std::move(cut));
  }
  for (Cut& cut : merged) {
    if (!cut.of_note) {
      widen(pages_[page], cut);
    }
  }
  cuts = std::move(merged);
}

std::string NoteFinder::text_of(const Note& note) const {
  const std::string& page = pages_[note.page].text;
  std::string html;
  // Without its own tag, which hides it where readers show it when its mark is touched.
  size_t at = std::min(page.find('>', note.begin) + 1, note.end);
  const std::vector<Cut>& inner = inner_[note.page];
  for (auto cut = std::ranges::lower_bound(inner, note.begin, {}, &Cut::begin);
       cut != inner.end() && cut->begin < note.end; ++cut) {
    if (cut->begin >= at && cut->end <= note.end) {
      html += std::string_view(page).substr(at, cut->begin - at);
      at = cut->end;
    }
  }
  html += std::string_view(page).substr(at, note.end - at);
  std::string text;
  for (const HtmlBlock& block : read_html_page(html).blocks) {
    if (block.heading == 0 || !is_notes_title(block.text)) {
      text += (text.empty() ? "" : "\n") + block.text;
    }
  }
  // What is left of the label where it is no link: "* ", "[12] ".
  for (const std::string_view label :
       {std::string_view(note.label), std::string_view("*"), std::string_view("**"),
        std::string_view("\u2020"), std::string_view("\u2021"), std::string_view("\u00A7")}) {
    if (const size_t length = label_length(text, label)) {
      text.erase(0, length);
      break;
    }
  }
  if (const auto worded = worded_note(text)) {
    text.erase(0, worded->length);
    text.erase(text.ends_with(']') ? text.size() - 1 : text.size());
  }
  const size_t begin = text.find_first_not_of(" \n\t.:)]");
  return begin == std::string::npos ? std::string() : text.substr(begin);
}

std::string NoteFinder::replacement(const Page& page, const Cut& cut, NoteReading how) {
  std::string out = cut.block ? "<hr/>" : "";
  if (how == NoteReading::Skip) {
    return out;
  }
  for (const size_t i : cut.notes) {
    Note& note = notes_[i];
    const bool here = &pages_[note.page] == &page && cut.begin <= note.begin && cut.end >= note.end;
    if (here && note.marked) {
      continue;
    }
    if (here && cut.block) {
      out += "<p>" + escaped(text_of(note)) + "</p>";
    } else if (how == NoteReading::End) {
      out += fmt::format("<x-note n=\"{}\"></x-note>", i);
    } else if (!std::exchange(note.inlined, true)) {
      std::string text = text_of(note);
      std::ranges::replace(text, '\n', ' ');
      size_t before = cut.begin;
      while (before > 0 && is_ascii_space(page.text[before - 1])) {
        --before;
      }
      const bool sentence = before > 0 && std::string_view(".!?").contains(page.text[before - 1]);
      if (!sentence && text.ends_with('.') && text.find('.') + 1 == text.size()) {
        text.pop_back();
      }
      const bool joined = cut.end < page.text.size() && !is_ascii_space(page.text[cut.end]) &&
                          !is_punctuation(page.text[cut.end]) && page.text[cut.end] != '<';
      out += text.empty() ? "" : " (" + escaped(text) + (joined ? ") " : ")");
    }
  }
  return out;
}

std::string NoteFinder::page_without(size_t index, NoteReading how) {
  const Page& page = pages_[index];
  std::string out;
  size_t at = 0;
  for (const Cut& cut : cuts_[index]) {
    out += std::string_view(page.text).substr(at, std::max(cut.begin, at) - at);
    out += replacement(page, cut, how);
    at = std::max(at, cut.end);
  }
  return out + page.text.substr(at);
}

std::vector<std::string> NoteFinder::notes(std::string_view language) const {
  std::vector<std::string> texts;
  texts.reserve(notes_.size());
  for (const Note& note : notes_) {
    texts.push_back(said_note(note.label, text_of(note), language));
  }
  return texts;
}

}  // namespace mynah
