#include "text/documents/html.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "text/documents/document_words.h"
#include "text/documents/drop_capital.h"
#include "text/documents/html_outline.h"
#include "text/documents/notes.h"
#include "text/documents/raised.h"
#include "text/documents/tags.h"
#include "text/spoken/html_elements.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::array<std::string_view, 16> kSilent = {
    "script",   "style", "nav",   "form",  "button", "select", "template", "svg",
    "noscript", "math",  "audio", "video", "object", "rt",     "iframe",   "canvas"};
// As Markdown's code blocks are said.
constexpr std::string_view kCodeBlock = "Code block.";

// Whether one of an attribute's words is one of these.
template <size_t N>
bool has_one_of(std::string_view words, const std::array<std::string_view, N>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return has_word(words, name); });
}

bool is_block(std::string_view name) {
  return heading_level(name) > 0 || is_html_block(name);
}

// What readers of a book do not see, or do not read aloud: the numbers of printed pages (EPUB 3
// Structural Semantics, DPUB-ARIA 1.0, and "pagenum" of Project Gutenberg's), MediaWiki's "[edit]".
bool is_hidden(const Tag& tag) {
  constexpr std::array<std::string_view, 3> kClasses = {"pagenum", "pageno", "mw-editsection"};
  if (is_one_of(tag.name, kSilent) || has_word(tag.attribute("epub:type"), "pagebreak") ||
      has_word(tag.attribute("role"), "doc-pagebreak") ||
      has_one_of(tag.attribute("class"), kClasses)) {
    return true;
  }
  return std::ranges::any_of(tag.attributes, [](const auto& attribute) {
    return is_hiding(attribute.first, attribute.second);
  });
}

bool has_attribute(const Tag& tag, std::string_view wanted) {
  return std::ranges::any_of(tag.attributes,
                             [&](const auto& attribute) { return attribute.first == wanted; });
}

class PageReader {
 public:
  PageReader(std::string_view text, std::span<const std::string> anchors)
      : tags_(text), anchors_(anchors.begin(), anchors.end()) {}

  HtmlPage read() {
    while (const auto tag = tags_.next()) {
      switch (tag->kind) {
        case Tag::Kind::Text:
          take_text(tag->text);
          break;
        case Tag::Kind::Open:
          open(*tag);
          break;
        case Tag::Kind::Close:
          close(tag->name);
          break;
      }
    }
    end_block();
    ended_ = true;
    if (!capital_.empty()) {
      end_capital({});
      end_block();
    }
    return std::move(page_);
  }

 private:
  void take_text(const std::string& text) {
    if (in_title_) {
      page_.title += text;
    }
    if (hidden_.is_open() || in_head_) {
      return;
    }
    if (raised_) {
      *raised_ += text;
    } else {
      add(text);
    }
  }

  // White space of any length is one space, and none at the begin of a line.
  void add(std::string_view text) {
    if (!capital_.empty() && block_.text.empty()) {
      const size_t begin = text.find_first_not_of(" \t\r\n\f");
      if (begin == std::string_view::npos) {
        capital_is_apart_ = true;
        return;
      }
      capital_is_apart_ = capital_is_apart_ || begin > 0;
      text.remove_prefix(begin);
      end_capital(text);
    }
    for (const char32_t c : to_code_points(text)) {
      const bool space = is_ascii_space(c) || c == U'\u00A0';
      if (c == U'\u00AD') {  // a place where a word may be cut
        continue;
      }
      if (!space) {
        block_.text += std::exchange(item_, {});
        append_utf8(block_.text, c);
      } else if (!block_.text.empty() && block_.text.back() != ' ' && block_.text.back() != '\n') {
        block_.text += ' ';
      }
    }
  }

  // A large first letter that stands apart from the text that begins here: an image's, or that of a
  // block before.
  void end_capital(std::string_view text) {
    const std::string capital = std::exchange(capital_, {});
    const bool apart = std::exchange(capital_is_apart_, false);
    const bool image = std::exchange(capital_is_image_, false);
    HtmlBlock block = std::exchange(capital_block_, {});
    const std::string_view word = text.substr(0, text.find(' '));
    if (continues_capital(capital, text)) {
      const bool spaced = (apart || !block.text.empty()) &&
                          join_capital(capital, word) != capital + std::string(word);
      block_.text = capital + (spaced ? " " : "");
    } else if (!block.text.empty()) {
      page_.blocks.push_back(std::move(block));
    } else if (!image) {
      block_.text = capital + (apart ? " " : "");
    }
  }

  void open(const Tag& tag) {
    const bool contains = !tag.closed && !is_void_element(tag.name);
    if (hidden_.is_open() &&
        hidden_.take(tag.name, false, contains, is_block(tag.name)) == HiddenElement::Tag::Inside) {
      return;
    }
    if (tag.name == "html" && page_.language.empty()) {
      page_.language =
          !tag.attribute("lang").empty() ? tag.attribute("lang") : tag.attribute("xml:lang");
    }
    in_head_ = (in_head_ || tag.name == "head") && tag.name != "body";
    in_title_ = in_title_ || (in_head_ && !tag.closed && tag.name == "title");
    if (is_block(tag.name)) {
      end_block();
      block_.heading = heading_level(tag.name);
      is_paragraph_ = tag.name == "p" || tag.name == "div";
    }
    if (contains && !is_block(tag.name) && is_capital_class(tag.attribute("class"))) {
      capital_element_ = tag.name;
    }
    note_anchor(tag);
    if (contains && is_hidden(tag)) {
      hidden_.open(tag.name);
      return;
    }
    if (tag.name == "code" && in_code_ && contains) {
      add(kCodeBlock);
      hidden_.open(tag.name);
      return;
    }
    in_code_ = in_code_ || (tag.name == "pre" && contains);
    if (tag.name == "sup" && contains && !raised_) {
      raised_.emplace();
      raised_is_link_ = false;
    }
    raised_is_link_ =
        raised_is_link_ ||
        (raised_ && tag.name == "a" && tag.attribute("href").find('#') != std::string_view::npos);
    if (tag.name == "ol") {
      lists_.open_ordered(tag.attribute("start"), tag.attribute("type"),
                          has_attribute(tag, "reversed"), is_unmarked_list(tag.attribute("style")));
    } else if (tag.name == "ul") {
      lists_.open_plain();
    } else if (tag.name == "li") {
      item_ = lists_.next(tag.attribute("value"));
    } else if (tag.name == "br") {
      break_line();
    } else if (tag.name == "td" || tag.name == "th") {
      begin_cell();
    } else if (tag.name == "img" && block_.text.empty() && is_lone_capital(tag.attribute("alt"))) {
      capital_ = trim_unicode_space(tag.attribute("alt"));
      capital_is_image_ = true;
    } else if (tag.name == "img") {
      add(" ");
    } else if (tag.name == "x-note") {
      mark_note(tag.attribute("n"));
    }
  }

  void close(const std::string& name) {
    if (hidden_.is_open() &&
        hidden_.take(name, true, false, is_block(name)) == HiddenElement::Tag::Inside) {
      return;
    }
    in_code_ = in_code_ && name != "pre";
    if (name == capital_element_) {
      capital_element_.clear();
      if (is_lone_capital(block_.text)) {
        capital_ = std::exchange(block_.text, {});
      }
    }
    if (name == "sup") {
      end_raised();
    }
    in_title_ = in_title_ && name != "title";
    in_head_ = in_head_ && name != "head";
    if (is_block(name)) {
      end_block();
    }
    if (name == "ol" || name == "ul") {
      lists_.close();
    }
    if (name == "ol" || name == "ul" || name == "li") {
      item_.clear();
    }
  }

  // A place that was asked for. It begins a block: the one that its element is in, or, behind a
  // line break, one of its own.
  void note_anchor(const Tag& tag) {
    const std::string_view id = tag.attribute("id");
    const std::string_view place = id.empty() && tag.name == "a" ? tag.attribute("name") : id;
    if (place.empty() || !anchors_.contains(std::string(place))) {
      return;
    }
    if (block_.text.ends_with('\n')) {
      const int heading = block_.heading;
      end_block();
      block_.heading = heading;
    }
    reached_.emplace_back(place);
  }

  void mark_note(std::string_view number) {
    size_t note = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), note).ec == std::errc()) {
      marked_.push_back(note);
    }
  }

  // Powers stay raised, what is no number is read as it is ("1st"), and links to notes are left out
  // with what is raised behind a word.
  void end_raised() {
    if (!raised_) {
      return;
    }
    const std::string text = *std::exchange(raised_, std::nullopt);
    const auto power = raised(text);
    const bool bracketed = text.find_first_of("([") == text.find_first_not_of(" \t\r\n");
    const bool note =
        raised_is_link_ || (power && !takes_powers(block_.text)) || (bracketed && note_label(text));
    if (!note) {
      add(power.value_or(text));
    }
  }

  void break_line() {
    while (block_.text.ends_with(' ')) {
      block_.text.pop_back();
    }
    if (!block_.text.empty() && block_.text.back() != '\n') {
      block_.text += '\n';
    }
  }

  void begin_cell() {
    while (block_.text.ends_with(' ')) {
      block_.text.pop_back();
    }
    if (!block_.text.empty()) {
      block_.text += ", ";
    }
  }

  void end_block() {
    end_raised();
    while (block_.text.ends_with(' ') || block_.text.ends_with('\n')) {
      block_.text.pop_back();
    }
    if (is_paragraph_ && block_.heading == 0 && capital_.empty() && !ended_ &&
        is_lone_capital(block_.text)) {
      // A capital may be of the paragraph that follows.
      capital_ = block_.text;
      capital_block_ = std::move(block_);
      block_ = {};
      return;
    }
    if (!block_.text.empty()) {
      block_.anchors = std::exchange(reached_, {});
      block_.notes = std::exchange(marked_, {});
      page_.blocks.push_back(std::move(block_));
    }
    block_ = {};
  }

  TagReader tags_;
  HtmlPage page_;
  HtmlBlock block_;
  std::set<std::string> anchors_;     // asked for
  std::vector<std::string> reached_;  // those of the block that comes
  std::vector<size_t> marked_;        // notes
  HiddenElement hidden_;
  ListNumbers lists_;
  std::string item_;                   // what stands before the text of a list's item: "1. "
  std::optional<std::string> raised_;  // the text of a <sup> that is open
  bool raised_is_link_ = false;        // to a place, as marks of notes are
  std::string capital_;                // a large first letter that waits for its word
  bool capital_is_apart_ = false;      // white space stands behind it
  bool capital_is_image_ = false;
  HtmlBlock capital_block_;      // that it is, where it stands in one of its own
  std::string capital_element_;  // one that is open whose class says that it is such a letter
  bool ended_ = false;
  bool is_paragraph_ = false;  // the block is <p> or <div>
  bool in_code_ = false;       // <pre>
  bool in_head_ = false;
  bool in_title_ = false;
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

HtmlPage read_html_page(std::string_view text, std::span<const std::string> anchors) {
  const std::string valid = replace_invalid_utf8(text);
  HtmlPage page = PageReader(valid, anchors).read();
  std::string title;
  for (const char c : page.title) {
    const bool space = is_ascii_space(c);
    if (!space || (!title.empty() && title.back() != ' ')) {
      title += space ? ' ' : c;
    }
  }
  while (title.ends_with(' ')) {
    title.pop_back();
  }
  page.title = std::move(title);
  return page;
}

int chapter_level(std::span<const HtmlBlock> blocks) {
  constexpr int kLevels = 3;
  for (int level = 1; level <= kLevels; ++level) {
    if (std::ranges::count(blocks, level, &HtmlBlock::heading) > 1) {
      return level;
    }
  }
  return 0;
}

void ChapterBuilder::begin(std::string title) {
  add_notes();
  chapters_.push_back({.title = one_line(std::move(title)), .text = {}});
}

void ChapterBuilder::add(const HtmlBlock& block) {
  if (chapters_.empty()) {
    begin({});
  }
  std::string& out = chapters_.back().text;
  out += (out.empty() ? "" : "\n\n") + block.text;
  marked_.insert(marked_.end(), block.notes.begin(), block.notes.end());
}

void ChapterBuilder::add_at_headings(std::span<const HtmlBlock> blocks, int level) {
  for (const HtmlBlock& block : blocks) {
    if (block.heading > 0 && block.heading <= level) {
      begin(block.text);
    }
    add(block);
  }
}

// Each once, in the order of their marks.
void ChapterBuilder::add_notes() {
  std::set<size_t> told;
  for (const size_t note : std::exchange(marked_, {})) {
    if (note < notes_.size() && !notes_[note].empty() && told.insert(note).second) {
      chapters_.back().text += "\n\n" + notes_[note];
    }
  }
}

std::vector<Chapter> ChapterBuilder::finish() {
  add_notes();
  return std::exchange(chapters_, {});
}

Document read_html(std::string_view text, NoteReading how) {
  NoteFinder finder;
  finder.add_page({}, replace_invalid_utf8(text));
  finder.find();
  const HtmlPage page = read_html_page(finder.page_without(0, how));
  const std::vector<std::string> notes =
      how == NoteReading::End ? finder.notes(page.language) : std::vector<std::string>();
  ChapterBuilder chapters(notes);
  chapters.add_at_headings(page.blocks, chapter_level(page.blocks));
  return {
      .title = page.title, .author = {}, .language = page.language, .chapters = chapters.finish()};
}

}  // namespace mynah
