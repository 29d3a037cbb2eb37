// HTML as paragraphs and headings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/documents/document.h"

namespace mynah {

struct HtmlBlock {
  std::string text;                    // white space is single spaces; a line break is '\n'
  int heading = 0;                     // 1 to 6; 0: a paragraph
  std::vector<std::string> anchors{};  // places that begin here, of those that were asked for
  std::vector<size_t> notes{};         // that are marked here, by <x-note n="3"> (notes.h)
};

struct HtmlPage {
  std::string title;     // of <title>
  std::string language;  // of <html lang>
  std::vector<HtmlBlock> blocks;
};

// Any bytes. What is not read is left out: scripts, styles, navigation, forms, what is hidden;
// notes and their marks were (notes.h), but for raised numbers without a link. Table rows and list
// items are paragraphs, those of ordered lists with their numbers ("1. "); cells are apart by
// commas. `anchors`: ids that a table of contents points to.
[[nodiscard]] HtmlPage read_html_page(std::string_view text,
                                      std::span<const std::string> anchors = {});

// The level of headings that chapters begin at: the highest, down to the third, that comes twice; 0
// where there is none.
[[nodiscard]] int chapter_level(std::span<const HtmlBlock> blocks);

// Blocks as chapters, with the notes that they mark at the ends.
class ChapterBuilder {
 public:
  // `notes` are texts by number, and must outlive it.
  explicit ChapterBuilder(std::span<const std::string> notes = {}) : notes_(notes) {}

  [[nodiscard]] bool empty() const { return chapters_.empty(); }

  void begin(std::string title);
  void add(const HtmlBlock& block);

  // Begins a chapter at the headings of a level and above it.
  void add_at_headings(std::span<const HtmlBlock> blocks, int level);

  [[nodiscard]] std::vector<Chapter> finish();

 private:
  void add_notes();

  std::span<const std::string> notes_;
  std::vector<Chapter> chapters_;
  std::vector<size_t> marked_;  // of the last chapter
};

// A page as a document: a chapter begins at each heading of the highest level that comes twice.
[[nodiscard]] Document read_html(std::string_view text, NoteReading how = NoteReading::Skip);

}  // namespace mynah
