// Which links and raised numbers are marks of notes, and which notes they lead to.
#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "text/documents/links.h"
#include "text/documents/notes.h"
#include "text/documents/raised.h"

namespace mynah {
namespace {

// What stands before a mark at the begin of a line.
bool is_only_brackets(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f[(^*") == std::string_view::npos;
}

// Whether an element stands in square brackets, alone or in a row: "[1, 2]".
bool is_in_brackets(std::string_view text, const OutlineElement& self) {
  constexpr std::string_view kRow = "0123456789, ;-";
  constexpr size_t kMost = 40;
  size_t begin = self.text_begin;
  while (begin > 0 && self.text_begin - begin < kMost && kRow.contains(text[begin - 1])) {
    --begin;
  }
  size_t end = self.text_end;
  while (end < text.size() && end - self.text_end < kMost && kRow.contains(text[end])) {
    ++end;
  }
  return begin > 0 && end < text.size() && text[begin - 1] == '[' && text[end] == ']';
}

// Whether a raised number behind this text is a power: of a figure, a letter, a bracket or a unit.
bool is_power(std::string_view before) {
  constexpr std::array<std::string_view, 9> kUnits = {"mm", "cm", "dm",  "km", "ft",
                                                      "yd", "mi", "sec", "min"};
  size_t letters = 0;
  while (letters < before.size() && is_ascii_letter(before[before.size() - 1 - letters])) {
    ++letters;
  }
  const std::string_view word = before.substr(before.size() - letters);
  constexpr size_t kShort = 3;
  return takes_powers(before) &&
         (word.size() < 2 ||
          (word.size() <= kShort && std::ranges::find(kUnits, word) != kUnits.end()) ||
          word.size() > kShort);
}

}  // namespace

NoteFinder::Place NoteFinder::resolve(size_t page, std::string_view href) const {
  if (!href.contains('#') || is_outside(href)) {
    return {};
  }
  const std::string id = anchor_of(href);
  const auto known = paths_.find(resolve_link(pages_[page].path, href));
  for (const size_t candidate : {known == paths_.end() ? kNone : known->second, page}) {
    if (candidate == kNone) {
      continue;
    }
    const auto& places = pages_[candidate].outline.places;
    if (const auto place = places.find(id); place != places.end()) {
      return {.page = candidate, .element = place->second};
    }
  }
  // Programs that cut books into pages do not always mend the links.
  const auto place = places_.find(id);
  return place == places_.end() ? Place{} : place->second;
}

NoteFinder::Mark NoteFinder::mark_of(size_t page, size_t index) const {
  const HtmlOutline& outline = pages_[page].outline;
  const OutlineElement& self = outline.elements[index];
  Mark mark{.place = {.page = page, .element = index},
            .target = resolve(page, self.href),
            .label = note_label(outline.text_of(self))};
  const std::string_view text = trim_unicode_space(outline.text_of(self));
  const auto take_role = [&](const OutlineElement& around) {
    mark.by_type = mark.by_type ||
                   (around.role == NoteRole::Mark && (around.by_type || text.starts_with('[')));
    mark.declared = mark.declared || around.role == NoteRole::Mark ||
                    (around.role == NoteRole::MaybeMark && mark.label);
    mark.back = mark.back || around.role == NoteRole::Back;
    mark.raised = mark.raised || around.raised;
  };
  for (size_t i = index; !outline.elements[i].block; i = outline.elements[i].parent) {
    take_role(outline.elements[i]);
  }
  // No mark is longer, and what holds half a page has many elements.
  constexpr size_t kMostBytes = 200;
  const size_t last = text.size() < kMostBytes ? outline.elements.size() : 0;
  for (size_t i = index + 1; i < last && outline.is_within(i, index); ++i) {
    if (trim_unicode_space(outline.text_of(outline.elements[i])) == text) {
      take_role(outline.elements[i]);
    }
  }
  mark.back = mark.back || (!mark.label && is_back_text(text));
  mark.raised = mark.raised || mark.label.raised;
  const size_t block_begin = outline.elements[outline.block_of(index)].text_begin;
  const std::string_view before =
      std::string_view(outline.text).substr(block_begin, self.text_begin - block_begin);
  const size_t line = before.rfind('\n');
  mark.at_begin = is_only_brackets(before.substr(line == std::string_view::npos ? 0 : line + 1));
  const size_t open = before.find_last_not_of("[(");
  mark.attached = open != std::string_view::npos && !is_ascii_space(before[open]);
  mark.label.square = mark.label.square || is_in_brackets(outline.text, self);
  return mark;
}

bool NoteFinder::looks_like_mark(const Mark& mark) const {
  const bool leads = element(mark.place).href.contains('#');
  return !mark.back && (mark.label || mark.by_type || (mark.raised && leads));
}

bool NoteFinder::is_strong(const Mark& mark) const {
  const std::string target = anchor_of(element(mark.place).href);
  const bool named = mark.attached && is_document_word(DocumentWord::IdNote, target);
  return mark.declared || mark.raised || mark.label.square || named ||
         mark.label.kind == NoteLabel::Kind::Symbol;
}

void NoteFinder::collect_marks(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  for (size_t i = 1; i < outline.elements.size(); ++i) {
    const OutlineElement& self = outline.elements[i];
    const bool link = self.name == "a" && !self.href.empty();
    const bool says = !link && !self.block && self.name != "a" &&
                      (self.role == NoteRole::Mark ||
                       (self.role == NoteRole::Note && note_label(outline.text_of(self))));
    if (!link && !says) {
      continue;
    }
    if (says) {
      // What stands around a link, or in one, is told by that.
      const auto holds_link = [&] {
        for (size_t k = i + 1; k < outline.elements.size() && outline.is_within(k, i); ++k) {
          if (!outline.elements[k].href.empty()) {
            return true;
          }
        }
        return !outline.elements[self.parent].href.empty();
      };
      if (holds_link()) {
        continue;
      }
    }
    Mark mark = mark_of(page, i);
    mark.declared = mark.declared || says;
    if (mark.target && looks_like_mark(mark)) {
      pages_[mark.target.page].targets[mark.target.element] = true;
    }
    if (mark.back || looks_like_mark(mark)) {
      marks_at_.emplace(std::pair(page, i), marks_.size());
      marks_.push_back(std::move(mark));
    }
  }
}

std::vector<std::string> NoteFinder::wanted_pages() const {
  std::vector<std::string> wanted;
  for (size_t page = 0; page < pages_.size(); ++page) {
    const HtmlOutline& outline = pages_[page].outline;
    for (size_t i = 1; i < outline.elements.size(); ++i) {
      const std::string& href = outline.elements[i].href;
      if (!href.contains('#') || is_outside(href) || resolve(page, href)) {
        continue;
      }
      const Mark mark = mark_of(page, i);
      if (looks_like_mark(mark) && is_strong(mark)) {
        wanted.push_back(resolve_link(pages_[page].path, href));
      }
    }
  }
  std::ranges::sort(wanted);
  const auto repeated = std::ranges::unique(wanted);
  wanted.erase(repeated.begin(), repeated.end());
  return wanted;
}

// Takes what is a mark, with its note where there is one.
void NoteFinder::take_mark(Mark& mark) {
  const bool strong = is_strong(mark);
  if (mark.target) {
    const size_t page = mark.target.page;
    const size_t block = container_of(mark.target);
    const size_t text =
        block == kNone ? 0
                       : pages_[page].outline.text_of(pages_[page].outline.elements[block]).size();
    // Not the text of a chapter that a raised number leads to.
    constexpr size_t kMostUnproven = 3000;
    const bool later = std::pair(page, pages_[page].outline.elements[mark.target.element].begin) >
                       std::pair(mark.place.page, element(mark.place).begin);
    if (block != kNone && can_be_note(mark, page, block) &&
        (is_proven(mark, page, block) || (strong && later && text < kMostUnproven))) {
      mark.note = add_note(page, block);
      mark.taken = true;
      Note& note = notes_[mark.note];
      if (!note.marked) {
        note.marked = true;
        note.first_mark = mark.place;
        note.label = mark.label.kind == NoteLabel::Kind::Symbol ? "" : mark.label.core;
      }
      return;
    }
  }
  // A number close behind a word whose link leads nowhere is one all the same.
  const std::string& href = element(mark.place).href;
  const bool lost = !mark.target && mark.attached && href.contains('#') && !is_outside(href) &&
                    mark.label.kind == NoteLabel::Kind::Number;
  mark.taken = (strong || lost) && (!mark.at_begin || mark.declared || mark.raised);
}

// A row of links is a table of contents, whatever they are called.
bool NoteFinder::is_in_row(const Mark& mark) {
  const HtmlOutline& outline = pages_[mark.place.page].outline;
  const size_t block = outline.block_of(mark.place.element);
  const auto [known, fresh] = rows_.try_emplace({mark.place.page, block}, false);
  if (!fresh) {
    return known->second;
  }
  const auto filled = [](std::string_view text) {
    return std::ranges::count_if(
        text, [](char c) { return !std::string_view(" \t\r\n,;.|-/[]()").contains(c); });
  };
  size_t links = 0;
  long of_links = 0;
  for (size_t i = block + 1; i < outline.elements.size() && outline.is_within(i, block); ++i) {
    if (!outline.elements[i].href.empty()) {
      ++links;
      of_links += filled(outline.text_of(outline.elements[i]));
    }
  }
  known->second = links > 1 && filled(outline.text_of(outline.elements[block])) <= of_links;
  return known->second;
}

void NoteFinder::pair_marks() {
  // First those whose looks say it, then those that must be proven, then the first of their lines.
  std::vector<bool> row(marks_.size(), false);
  for (size_t i = 0; i < marks_.size(); ++i) {
    Mark& mark = marks_[i];
    row[i] = !mark.back && !mark.declared && !mark.raised && is_in_row(mark);
    if (!mark.back && !row[i] && !mark.at_begin && (is_strong(mark) || mark.attached)) {
      take_mark(mark);
    }
  }
  for (size_t i = 0; i < marks_.size(); ++i) {
    Mark& mark = marks_[i];
    if (!mark.back && !row[i] && !mark.at_begin && !is_strong(mark) && !mark.attached &&
        mark.target) {
      const size_t block = container_of(mark.target);
      if (block != kNone && !notes_at_.contains({mark.target.page, block})) {
        take_mark(mark);
      }
    }
  }
  for (size_t i = 0; i < marks_.size(); ++i) {
    Mark& mark = marks_[i];
    if (!mark.back && !row[i] && mark.at_begin && is_strong(mark) &&
        note_around(mark.place.page, element(mark.place)) == kNone) {
      take_mark(mark);
    }
  }
}

// The mark that is a place, stands around it or within it.
size_t NoteFinder::mark_at(Place place) const {
  const HtmlOutline& outline = pages_[place.page].outline;
  const auto taken = [&](size_t index) {
    const auto known = marks_at_.find({place.page, index});
    return known != marks_at_.end() && marks_[known->second].taken ? known->second : kNone;
  };
  for (size_t i = place.element; !outline.elements[i].block; i = outline.elements[i].parent) {
    if (const size_t mark = taken(i); mark != kNone) {
      return mark;
    }
  }
  constexpr size_t kMost = 8;
  for (size_t i = place.element + 1; i < outline.elements.size() && i <= place.element + kMost &&
                                     outline.is_within(i, place.element);
       ++i) {
    if (const size_t mark = taken(i); mark != kNone) {
      return mark;
    }
  }
  return kNone;
}

// Notes whose links lead back to text that no link leads from: what is there, a number, is the
// mark.
void NoteFinder::take_unlinked() {
  for (size_t i = 0; i < marks_.size(); ++i) {
    const Mark& link = marks_[i];
    if ((!link.back && !(link.at_begin && link.label)) || !link.target || link.taken) {
      continue;
    }
    const HtmlOutline& outline = pages_[link.target.page].outline;
    const OutlineElement& there = outline.elements[link.target.element];
    const size_t block = container_of(link.place);
    const size_t own = pages_[link.place.page].outline.block_of(link.place.element);
    if (there.block || block == kNone ||
        (link.target.page == link.place.page && outline.block_of(link.target.element) == own)) {
      continue;
    }
    const size_t known = mark_at(link.target);
    const NoteLabel label = note_label(outline.text_of(there));
    const bool same = label && (!link.label || link.label.core == label.core);
    if (known != kNone ? marks_[known].note != kNone : !same) {
      continue;
    }
    Mark mark = known != kNone ? marks_[known] : mark_of(link.target.page, link.target.element);
    if (!can_be_note(mark, link.place.page, block) || (!mark.raised && is_in_row(mark))) {
      continue;
    }
    mark.taken = true;
    mark.note = add_note(link.place.page, block);
    Note& note = notes_[mark.note];
    if (!note.marked) {
      note.marked = true;
      note.first_mark = mark.place;
      note.label = label.kind == NoteLabel::Kind::Symbol ? "" : label.core;
    }
    if (known != kNone) {
      marks_[known] = mark;
    } else {
      marks_at_.emplace(std::pair(mark.place.page, mark.place.element), marks_.size());
      marks_.push_back(mark);
    }
  }
}

// Raised numbers that are no links, in the text and at the begin of a later paragraph: a mark and
// its note.
void NoteFinder::take_raised(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  std::vector<Mark> open;
  for (size_t i = 1; i < outline.elements.size(); ++i) {
    const OutlineElement& self = outline.elements[i];
    const auto has_link = [&] {
      bool link = false;
      for (size_t k = i; !link && !outline.elements[k].block; k = outline.elements[k].parent) {
        link = !outline.elements[k].href.empty() || marks_at_.contains({page, k});
      }
      for (size_t k = i + 1; !link && k < outline.elements.size() && outline.is_within(k, i); ++k) {
        link = !outline.elements[k].href.empty();
      }
      return link;
    };
    if (self.block || !self.raised || !note_label(outline.text_of(self)) || has_link()) {
      continue;
    }
    Mark mark = mark_of(page, i);
    const size_t block = outline.block_of(i);
    const std::string_view before =
        std::string_view(outline.text)
            .substr(outline.elements[block].text_begin,
                    self.text_begin - outline.elements[block].text_begin);
    if (mark.attached && !is_power(before)) {
      open.push_back(std::move(mark));
    } else if (is_only_brackets(before) && note_around(page, self) == kNone) {
      const auto known = std::ranges::find_if(open.rbegin(), open.rend(), [&](const Mark& other) {
        return other.label.core == mark.label.core;
      });
      if (known == open.rend() || !can_be_note(*known, page, block)) {
        continue;
      }
      known->taken = true;
      known->note = add_note(page, block);
      Note& note = notes_[known->note];
      note.marked = true;
      note.first_mark = known->place;
      note.label = mark.label.kind == NoteLabel::Kind::Symbol ? "" : mark.label.core;
      for (const Mark& both : {*known, mark}) {
        marks_at_.emplace(std::pair(page, both.place.element), marks_.size());
        marks_.push_back(both);
      }
      open.erase(std::prev(known.base()));
    }
  }
}

// "[Footnote 12: Text]" with its mark "[12]" in the text before it.
void NoteFinder::take_worded(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  const std::vector<size_t> blocks = text_blocks(page);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const OutlineElement& self = outline.elements[blocks[i]];
    const auto worded = worded_note(trim_unicode_space(outline.text_of(self)));
    if (!worded || note_around(page, self) != kNone) {
      continue;
    }
    constexpr size_t kMostBlocks = 12;
    size_t last = i;
    while (last < blocks.size() && last < i + kMostBlocks &&
           !trim_unicode_space(outline.text_of(outline.elements[blocks[last]])).ends_with(']')) {
      ++last;
    }
    if (last == blocks.size() || last == i + kMostBlocks) {
      continue;
    }
    const size_t index = add_note(page, blocks[i]);
    Note& note = notes_[index];
    note.end = std::max(note.end, outline.elements[blocks[last]].end);
    note.label = worded->label.kind == NoteLabel::Kind::Symbol ? "" : worded->label.core;
    const std::string mark = "[" + (worded->label ? worded->label.core : std::string("*")) + "]";
    const size_t at = pages_[page].text.rfind(mark, note.begin);
    if (at != std::string::npos) {
      note.marked = true;
      note.first_mark = {.page = page, .element = blocks[i]};
      cuts_[page].push_back({.begin = at, .end = at + mark.size(), .notes = {index}});
    }
  }
}

// Within notes: the numbers that they begin with, and what leads back from them.
void NoteFinder::take_labels() {
  for (const Mark& mark : marks_) {
    const OutlineElement& self = element(mark.place);
    if (mark.taken || (!mark.back && !(mark.at_begin && mark.label))) {
      continue;
    }
    if (note_around(mark.place.page, self) != kNone) {
      Cut cut{.begin = self.begin, .end = self.end};
      widen(pages_[mark.place.page], cut);
      cuts_[mark.place.page].push_back(std::move(cut));
    }
  }
}

}  // namespace mynah
