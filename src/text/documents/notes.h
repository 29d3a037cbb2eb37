// The notes of a document of HTML pages: which text is a note, what marks it where, and the pages
// without them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/documents/document.h"
#include "text/documents/document_words.h"
#include "text/documents/html_outline.h"

namespace mynah {

// Notes are known by what their elements say of themselves (types, roles, classes), by a mark in
// the text that leads to them, and by what leads back from them to it. A link that looks like a
// mark and leads elsewhere, to a chapter or a paragraph, is none; what no evidence makes a note
// stays text.
class NoteFinder {
 public:
  // Pages in reading order; gives the page's number. Of a page that is in no order (a file of
  // notes) only notes are read.
  // `beside`: it is in no order.
  size_t add_page(std::string path, std::string text, bool beside = false);

  [[nodiscard]] bool has_page(const std::string& path) const { return paths_.contains(path); }

  // Pages of the book that marks lead to and that were not added.
  [[nodiscard]] std::vector<std::string> wanted_pages() const;

  // Finds marks and notes, when all pages are there.
  void find();

  // A page without notes and marks. Inline: a note's text stands in brackets at its first mark.
  // End: <x-note n="3"> stands there, for the third of notes(). Notes without a mark are paragraphs
  // where they stand, but for Skip.
  [[nodiscard]] std::string page_without(size_t page, NoteReading how);

  // The texts of notes as they are read at the end of a chapter of a document in this language
  // (said_note()).
  [[nodiscard]] std::vector<std::string> notes(std::string_view language) const;

 private:
  static constexpr size_t kNone = OutlineElement::kNone;

  struct Page {
    std::string path;
    std::string text;
    HtmlOutline outline;
    bool beside = false;
    std::vector<bool> targets;          // elements that links which look like marks lead to
    std::vector<size_t> headings{};     // elements, in order
    std::map<size_t, size_t> begins{};  // of notes: the byte, and which
  };

  // A place in the book.
  struct Place {
    size_t page = kNone;
    size_t element = kNone;

    bool operator==(const Place&) const = default;

    explicit operator bool() const { return element != kNone; }
  };

  // What may be the mark of a note: a link, or an element that says that it is one.
  struct Mark {
    Place place{};
    Place target{};
    NoteLabel label{};
    bool raised = false;
    bool declared = false;  // by its element's type, role or class, or by where it leads
    bool by_type = false;   // a mark whatever its text is
    bool back = false;      // leads back
    bool at_begin = false;  // nothing but brackets stands before it on its line
    bool attached = false;  // no space stands before it
    bool taken = false;     // it is a mark
    size_t note = kNone;
  };

  struct Note {
    size_t page = 0;
    size_t block = kNone;  // its element
    size_t begin = 0;      // bytes of the page
    size_t end = 0;
    std::string label{};   // "12"; "": none that is said
    bool marked = false;   // a mark leads to it
    bool inlined = false;  // its text was given at a mark
    Place first_mark{};
  };

  // Bytes of a page that are not read where they stand.
  struct Cut {
    size_t begin = 0;
    size_t end = 0;
    bool of_note = false;         // a note, a heading of notes; else a mark or what leads back
    bool block = false;           // it parts what stands before and behind it
    std::vector<size_t> notes{};  // that a mark leads to, or that this is
  };

  // note_marks.cpp
  void collect_marks(size_t page);
  [[nodiscard]] Mark mark_of(size_t page, size_t element) const;
  [[nodiscard]] Place resolve(size_t page, std::string_view href) const;
  [[nodiscard]] bool looks_like_mark(const Mark& mark) const;
  [[nodiscard]] bool is_strong(const Mark& mark) const;
  void pair_marks();
  void take_mark(Mark& mark);
  void take_labels();
  void take_unlinked();
  void take_raised(size_t page);
  void take_worded(size_t page);
  [[nodiscard]] size_t mark_at(Place place) const;
  [[nodiscard]] bool is_in_row(const Mark& mark);

  // note_places.cpp
  [[nodiscard]] size_t container_of(Place target) const;
  [[nodiscard]] bool can_be_note(const Mark& mark, size_t page, size_t block) const;
  [[nodiscard]] bool is_proven(const Mark& mark, size_t page, size_t block) const;
  [[nodiscard]] bool leads_back(const Mark& mark, size_t page, size_t block) const;
  [[nodiscard]] bool is_declared(size_t page, size_t block) const;
  [[nodiscard]] bool is_below_title(size_t page, size_t block) const;
  size_t add_note(size_t page, size_t block);
  // The note that an element is in; kNone where it is in none.
  [[nodiscard]] size_t note_around(size_t page, const OutlineElement& element) const;
  void add_declared(size_t page);
  void join_gaps(size_t page);
  void cut_headings(size_t page);
  [[nodiscard]] std::vector<size_t> text_blocks(size_t page) const;

  // notes.cpp
  void cut_marks();
  void cut_raised_brackets(size_t page);
  void merge_cuts(size_t page);
  [[nodiscard]] bool parts_text(size_t page, size_t element) const;
  void widen(const Page& page, Cut& cut) const;
  [[nodiscard]] std::string text_of(const Note& note) const;
  [[nodiscard]] std::string replacement(const Page& page, const Cut& cut, NoteReading how);

  [[nodiscard]] const OutlineElement& element(Place place) const {
    return pages_[place.page].outline.elements[place.element];
  }

  std::vector<Page> pages_;
  std::map<std::string, size_t> paths_;
  std::map<std::string, Place> places_;  // ids that one page alone has
  std::vector<Mark> marks_;
  std::map<std::pair<size_t, size_t>, size_t> marks_at_;  // by page and element
  std::map<std::pair<size_t, size_t>, bool> rows_;        // blocks that are rows of links
  std::vector<Note> notes_;
  std::map<std::pair<size_t, size_t>, size_t> notes_at_;  // by page and element
  std::vector<std::vector<Cut>> cuts_;                    // of each page, in order at the end
  std::vector<std::vector<Cut>> inner_;                   // of marks and labels within notes
};

}  // namespace mynah
