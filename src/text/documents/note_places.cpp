// Which text is a note: what a mark leads to, what says so itself, and what stands among notes.
#include <algorithm>
#include <utility>

#include "text/documents/links.h"
#include "text/documents/notes.h"

namespace mynah {
namespace {

// Longer text is a chapter's; longer than the other, it is proven by more than its number.
constexpr size_t kMostNoteBytes = 20'000;
constexpr size_t kMostNumberedBytes = 6'000;
// Within a note.
constexpr size_t kMostElements = 2'000;

bool is_blank(std::string_view text) {
  return trim_unicode_space(text).empty();
}

// Blocks that a note is the whole of.
bool wraps_one_note(const OutlineElement& element) {
  return element.name == "li" || element.name == "dd" || element.name == "tr" ||
         element.name == "aside" || element.role == NoteRole::Note ||
         ((element.name == "div" || element.name == "section") &&
          is_document_word(DocumentWord::IdNote, element.id));
}

}  // namespace

size_t NoteFinder::container_of(Place target) const {
  const Page& page = pages_[target.page];
  const HtmlOutline& outline = page.outline;
  const OutlineElement& self = outline.elements[target.element];
  size_t block = outline.block_of(target.element);
  if (!self.block) {
    const OutlineElement& around = outline.elements[block];
    const std::string_view before =
        std::string_view(outline.text)
            .substr(around.text_begin, self.text_begin - around.text_begin);
    if (!is_blank(self.name == "a" && before.ends_with('[') ? before.substr(0, before.size() - 1)
                                                            : before) &&
        around.has_text) {
      // An anchor within a line is where a note leads back to.
      return kNone;
    }
    if (!around.has_text) {
      // It stands between blocks, before the one that it means.
      size_t next = target.element + 1;
      while (next < outline.elements.size() && !outline.elements[next].block) {
        ++next;
      }
      if (next == outline.elements.size() ||
          !is_blank(
              std::string_view(outline.text)
                  .substr(self.text_end, outline.elements[next].text_begin - self.text_end))) {
        return kNone;
      }
      block = next;
    }
  }
  // A note's own block, where it begins it and no other note stands there.
  for (size_t parent = outline.elements[block].parent; parent != kNone && parent != 0;
       parent = outline.elements[parent].parent) {
    const OutlineElement& outer = outline.elements[parent];
    if (!outer.block || !wraps_one_note(outer)) {
      break;
    }
    const std::string_view before =
        std::string_view(outline.text)
            .substr(outer.text_begin, outline.elements[block].text_begin - outer.text_begin);
    size_t others = 0;
    for (size_t i = block + 1;
         others == 0 && i < outline.elements.size() && outline.is_within(i, parent); ++i) {
      others += page.targets[i] && !outline.is_within(i, block) &&
                        outline.elements[i].begin >= outline.elements[block].end
                    ? 1
                    : 0;
    }
    if (!is_blank(before) || others > 0) {
      break;
    }
    block = parent;
  }
  return block == 0 ? kNone : block;
}

bool NoteFinder::can_be_note(const Mark& mark, size_t page, size_t block) const {
  const HtmlOutline& outline = pages_[page].outline;
  const OutlineElement& self = outline.elements[block];
  const bool whole = self.name == "body" || self.name == "article" || self.name == "main" ||
                     self.name == "ul" || self.name == "ol" || self.name == "table";
  if (self.heading > 0 || whole || self.text_end - self.text_begin > kMostNoteBytes ||
      (mark.place.page == page && outline.is_within(mark.place.element, block))) {
    return false;
  }
  for (size_t i = block + 1; i < outline.elements.size() && outline.is_within(i, block); ++i) {
    if (outline.elements[i].heading > 0 || i - block > kMostElements) {
      return false;
    }
  }
  const std::string_view text = trim_unicode_space(outline.text_of(self));
  const size_t label = mark.label ? label_length(text, mark.label.core) : 0;
  const bool more = !trim_unicode_space(text.substr(label)).empty();
  // A term has its note in the definitions that follow.
  return more || self.name == "dt";
}

bool NoteFinder::is_declared(size_t page, size_t block) const {
  const HtmlOutline& outline = pages_[page].outline;
  for (size_t i = block; i != kNone; i = outline.elements[i].parent) {
    const NoteRole role = outline.elements[i].role;
    if (outline.elements[i].block && (role == NoteRole::Note || role == NoteRole::Notes)) {
      return true;
    }
  }
  return false;
}

bool NoteFinder::is_below_title(size_t page, size_t block) const {
  const HtmlOutline& outline = pages_[page].outline;
  const std::vector<size_t>& headings = pages_[page].headings;
  const auto next = std::ranges::lower_bound(headings, block);
  return next != headings.begin() &&
         is_notes_title(outline.text_of(outline.elements[*std::prev(next)]));
}

bool NoteFinder::leads_back(const Mark& mark, size_t page, size_t block) const {
  const HtmlOutline& outline = pages_[page].outline;
  const HtmlOutline& of_mark = pages_[mark.place.page].outline;
  const size_t home = of_mark.block_of(mark.place.element);
  for (size_t i = block; i < outline.elements.size() && outline.is_within(i, block); ++i) {
    const OutlineElement& link = outline.elements[i];
    if (link.href.empty()) {
      continue;
    }
    const std::string_view text = outline.text_of(link);
    const Place there = resolve(page, link.href);
    if (there && there.page == mark.place.page && of_mark.block_of(there.element) == home &&
        (note_label(text) || is_back_text(text) || link.role == NoteRole::Back)) {
      return true;
    }
  }
  return false;
}

bool NoteFinder::is_proven(const Mark& mark, size_t page, size_t block) const {
  if (is_declared(page, block) || leads_back(mark, page, block) ||
      (mark.attached && mark.label && pages_[page].beside)) {
    return true;
  }
  if (!mark.attached && !is_strong(mark)) {
    return false;
  }
  const HtmlOutline& outline = pages_[page].outline;
  const std::string_view text = outline.text_of(outline.elements[block]);
  return is_below_title(page, block) || (mark.label && text.size() < kMostNumberedBytes &&
                                         label_length(text, mark.label.core) > 0);
}

size_t NoteFinder::add_note(size_t page, size_t block) {
  const auto [known, fresh] = notes_at_.try_emplace({page, block}, notes_.size());
  if (fresh) {
    const HtmlOutline& outline = pages_[page].outline;
    const OutlineElement& self = outline.elements[block];
    size_t end = self.end;
    if (self.name == "dt") {
      for (size_t i = block + 1; i < outline.elements.size(); ++i) {
        const OutlineElement& next = outline.elements[i];
        if (next.parent == self.parent && next.block) {
          if (next.name != "dd") {
            break;
          }
          end = next.end;
        }
      }
    }
    pages_[page].begins.emplace(self.begin, notes_.size());
    notes_.push_back({.page = page, .block = block, .begin = self.begin, .end = end});
  }
  return known->second;
}

size_t NoteFinder::note_around(size_t page, const OutlineElement& self) const {
  const auto& begins = pages_[page].begins;
  const auto next = begins.upper_bound(self.begin);
  if (next == begins.begin()) {
    return kNone;
  }
  const size_t note = std::prev(next)->second;
  return self.end <= notes_[note].end ? note : kNone;
}

// Blocks that have text of their own, in order.
std::vector<size_t> NoteFinder::text_blocks(size_t page) const {
  const HtmlOutline& outline = pages_[page].outline;
  std::vector<size_t> blocks;
  for (size_t i = 1; i < outline.elements.size(); ++i) {
    const OutlineElement& self = outline.elements[i];
    if (self.block && self.has_text) {
      blocks.push_back(i);
    }
  }
  return blocks;
}

// What says that it is a note, or notes.
void NoteFinder::add_declared(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  size_t within = 0;  // bytes up to the end of what was taken
  for (size_t i = 1; i < outline.elements.size(); ++i) {
    const OutlineElement& self = outline.elements[i];
    const bool note = self.role == NoteRole::Note || self.role == NoteRole::Notes;
    if (!note || self.begin < within || is_blank(outline.text_of(self)) ||
        (!self.block && note_label(outline.text_of(self)))) {
      continue;
    }
    const auto& begins = pages_[page].begins;
    const auto first = begins.lower_bound(self.begin);
    const bool holds = first != begins.end() && first->first < self.end;
    if (note_around(page, self) != kNone && !(holds && first->first == self.begin)) {
      continue;
    }
    // A class may be of more than notes: of text with its marks.
    const auto is_text_too = [&] {
      for (size_t k = i + 1; k < outline.elements.size() && outline.is_within(k, i); ++k) {
        const auto mark = marks_at_.find({page, k});
        if (mark != marks_at_.end() && marks_[mark->second].taken &&
            marks_[mark->second].note != kNone && !marks_[mark->second].at_begin &&
            note_around(page, outline.elements[k]) == kNone) {
          return true;
        }
      }
      return false;
    };
    const bool text_too = !self.by_type && holds && is_text_too();
    bool headed = false;
    for (size_t k = i + 1; k < outline.elements.size() && outline.is_within(k, i); ++k) {
      headed = headed || (outline.elements[k].heading > 0 && self.role == NoteRole::Note &&
                          !is_notes_title(outline.text_of(outline.elements[k])));
    }
    if (text_too || (headed && !self.by_type)) {
      continue;
    }
    if (!holds) {
      add_note(page, i);
    } else {
      cuts_[page].push_back(
          {.begin = self.begin, .end = self.end, .of_note = true, .block = parts_text(page, i)});
    }
    within = self.end;
  }
}

// Paragraphs between notes that go on with the one before: all marks stand before the first note,
// so that no text is expected there.
void NoteFinder::join_gaps(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  const std::vector<size_t> blocks = text_blocks(page);
  const auto note_of = [&](size_t block) { return note_around(page, outline.elements[block]); };
  const auto has_mark = [&](size_t block) {
    for (size_t k = block + 1; k < outline.elements.size() && outline.is_within(k, block); ++k) {
      const auto mark = marks_at_.find({page, k});
      if (mark != marks_at_.end() && marks_[mark->second].taken) {
        return true;
      }
    }
    return false;
  };
  constexpr size_t kMostGap = 4;
  const auto notes = static_cast<size_t>(
      std::ranges::count_if(blocks, [&](size_t block) { return note_of(block) != kNone; }));
  // A file of notes, as its title and most of its text say: all of it is.
  const auto headings = static_cast<size_t>(std::ranges::count_if(
      blocks, [&](size_t block) { return outline.elements[block].heading > 0; }));
  const bool of_notes = notes > 1 && notes * 2 > blocks.size() - headings &&
                        is_notes_title(outline.text_of(outline.elements[blocks.front()]));
  if (of_notes) {
    for (size_t i = 1; i < blocks.size(); ++i) {
      const size_t before = note_of(blocks[i - 1]);
      const OutlineElement& self = outline.elements[blocks[i]];
      if (before != kNone && note_of(blocks[i]) == kNone && self.heading == 0 &&
          self.parent == outline.elements[notes_[before].block].parent) {
        notes_[before].end = self.end;
      }
    }
    return;
  }
  size_t last = kNone;  // of the blocks that are notes
  for (size_t i = 0; i < blocks.size(); ++i) {
    const size_t note = note_of(blocks[i]);
    if (note == kNone) {
      continue;
    }
    if (last != kNone && i - last > 1 && i - last <= kMostGap + 1) {
      Note& before = notes_[note_of(blocks[last])];
      const Note& next = notes_[note];
      const auto is_text = [&](size_t block) {
        const OutlineElement& self = outline.elements[block];
        return self.heading > 0 || self.parent != outline.elements[before.block].parent ||
               has_mark(block);
      };
      const bool marked_before =
          next.marked && std::pair(next.first_mark.page, element(next.first_mark).begin) <
                             std::pair(page, before.begin);
      if (marked_before && std::none_of(blocks.begin() + static_cast<long>(last) + 1,
                                        blocks.begin() + static_cast<long>(i), is_text)) {
        before.end = outline.elements[blocks[i - 1]].end;
      }
    }
    last = i;
  }
}

// Headings that nothing but notes follows. The cuts before it are merged.
void NoteFinder::cut_headings(size_t page) {
  const HtmlOutline& outline = pages_[page].outline;
  const std::vector<size_t> blocks = text_blocks(page);
  std::vector<bool> noted(blocks.size());
  bool all = true;
  bool any = false;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const OutlineElement& self = outline.elements[blocks[i]];
    const auto next = std::ranges::upper_bound(cuts_[page], self.begin, {}, &Cut::begin);
    noted[i] =
        next != cuts_[page].begin() && std::prev(next)->of_note && self.end <= std::prev(next)->end;
    any = any || noted[i];
    all = all && (noted[i] || outline.elements[blocks[i]].heading > 0 ||
                  is_notes_title(outline.text_of(outline.elements[blocks[i]])));
  }
  if (!any) {
    return;
  }
  int below = 0;  // the level of a title of notes
  for (size_t i = 0; i < blocks.size(); ++i) {
    const OutlineElement& self = outline.elements[blocks[i]];
    const bool title = is_notes_title(outline.text_of(self));
    if (noted[i] || (self.heading == 0 && !title)) {
      continue;
    }
    // What follows it up to the next heading; below a title of notes, up to the next of its level.
    size_t next = i + 1;
    while (next < blocks.size() && title && outline.elements[blocks[next]].heading > 0) {
      ++next;
    }
    const bool before_notes = next < blocks.size() && noted[next];
    bool only_notes = before_notes;
    for (; next < blocks.size() && outline.elements[blocks[next]].heading == 0; ++next) {
      only_notes = only_notes && noted[next];
    }
    if (title && before_notes) {
      below = self.heading;
    } else if (self.heading <= below) {
      below = 0;
    }
    if (all || (title && before_notes) || (below > 0 && only_notes)) {
      cuts_[page].push_back({.begin = self.begin, .end = self.end, .of_note = true, .block = true});
    }
  }
}

}  // namespace mynah
