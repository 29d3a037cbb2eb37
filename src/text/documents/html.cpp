#include "text/documents/html.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "text/documents/tags.h"
#include "text/spoken/characters.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::array<std::string_view, 14> kSilent = {
    "script", "style",    "nav",  "form",  "button", "select", "template",
    "svg",    "noscript", "math", "audio", "video",  "object", "rt"};
constexpr std::array<std::string_view, 27> kBlocks = {
    "p",     "div",  "section", "article",    "header",  "footer", "main",
    "aside", "ul",   "ol",      "li",         "dl",      "dt",     "dd",
    "table", "tr",   "caption", "blockquote", "pre",     "figure", "figcaption",
    "hr",    "body", "address", "details",    "summary", "center"};
constexpr std::array<std::string_view, 8> kVoid = {"br",   "hr",   "img", "input",
                                                   "link", "meta", "wbr", "col"};

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

int heading_level(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

// What readers of a book do not see, or do not read aloud.
bool is_hidden(const Tag& tag) {
  if (is_one_of(tag.name, kSilent) || tag.attribute("aria-hidden") == "true" ||
      tag.attribute("epub:type").find("noteref") != std::string_view::npos ||
      tag.attribute("role") == "doc-noteref" ||
      tag.attribute("epub:type").find("pagebreak") != std::string_view::npos) {
    return true;
  }
  return std::ranges::any_of(tag.attributes,
                             [](const auto& attribute) { return attribute.first == "hidden"; });
}

class PageReader {
 public:
  explicit PageReader(std::string_view text) : tags_(text) {}

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
    return std::move(page_);
  }

 private:
  void take_text(const std::string& text) {
    if (in_title_) {
      page_.title += text;
    }
    if (hidden_.empty() && !in_head_) {
      add(text);
    }
  }

  // White space of any length is one space, and none at the begin of a line.
  void add(std::string_view text) {
    for (const char32_t c : to_code_points(text)) {
      const bool space = c == U' ' || (c >= U'\t' && c <= U'\r') || c == U'\u00A0';
      if (c == U'\u00AD') {  // a place where a word may be cut
        continue;
      }
      if (!space) {
        append_utf8(block_.text, c);
      } else if (!block_.text.empty() && block_.text.back() != ' ' && block_.text.back() != '\n') {
        block_.text += ' ';
      }
    }
  }

  void open(const Tag& tag) {
    const bool contains = !tag.closed && !is_one_of(tag.name, kVoid);
    // A paragraph ends where the next block begins, whether or not it says so.
    if (!hidden_.empty() && hidden_.front() == "p" &&
        (heading_level(tag.name) > 0 || is_one_of(tag.name, kBlocks))) {
      hidden_.clear();
    }
    if (!hidden_.empty()) {
      // Of what is hidden only as many of its kind are counted as have to be closed.
      if (contains && tag.name == hidden_.front()) {
        hidden_.push_back(tag.name);
      }
      return;
    }
    if (tag.name == "html" && page_.language.empty()) {
      page_.language =
          !tag.attribute("lang").empty() ? tag.attribute("lang") : tag.attribute("xml:lang");
    }
    in_head_ = (in_head_ || tag.name == "head") && tag.name != "body";
    in_title_ = in_title_ || (in_head_ && !tag.closed && tag.name == "title");
    if (contains && is_hidden(tag)) {
      hidden_.push_back(tag.name);
      return;
    }
    const int level = heading_level(tag.name);
    if (level > 0 || is_one_of(tag.name, kBlocks)) {
      end_block();
      block_.heading = level;
    } else if (tag.name == "br") {
      break_line();
    } else if (tag.name == "td" || tag.name == "th") {
      begin_cell();
    } else if (tag.name == "img") {
      add(" ");
    }
  }

  void close(const std::string& name) {
    if (!hidden_.empty()) {
      if (name == hidden_.front()) {
        hidden_.pop_back();
      }
      return;
    }
    in_title_ = in_title_ && name != "title";
    in_head_ = in_head_ && name != "head";
    if (heading_level(name) > 0 || is_one_of(name, kBlocks)) {
      end_block();
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
    while (block_.text.ends_with(' ') || block_.text.ends_with('\n')) {
      block_.text.pop_back();
    }
    if (!block_.text.empty()) {
      page_.blocks.push_back(std::move(block_));
    }
    block_ = {};
  }

  TagReader tags_;
  HtmlPage page_;
  HtmlBlock block_;
  std::vector<std::string> hidden_;  // the element that hides, as often as it is open
  bool in_head_ = false;
  bool in_title_ = false;
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

HtmlPage read_html_page(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  HtmlPage page = PageReader(valid).read();
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

std::vector<Chapter> chapters_at_headings(std::span<const HtmlBlock> blocks, int level) {
  std::vector<Chapter> chapters;
  for (const HtmlBlock& block : blocks) {
    const bool begins = block.heading > 0 && block.heading <= level;
    if (chapters.empty() || begins) {
      chapters.push_back({.title = begins ? one_line(block.text) : std::string(), .text = {}});
    }
    std::string& out = chapters.back().text;
    out += (out.empty() ? "" : "\n\n") + block.text;
  }
  return chapters;
}

Document read_html(std::string_view text) {
  const HtmlPage page = read_html_page(text);
  return {.title = page.title,
          .author = {},
          .language = page.language,
          .chapters = chapters_at_headings(page.blocks, chapter_level(page.blocks))};
}

}  // namespace mynah
