// What HTML has: tags, elements that are not read, entities.
#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/html_entities.h"
#include "text/spoken/markup.h"
#include "text/spoken/markup_marks.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

// How long a mark may be; what has not ended by then is text.
constexpr size_t kLongestTag = 2000;
constexpr size_t kLongestEntity = kLongestEntityName + 2;  // & and ;
constexpr size_t kLongestName = 12;

constexpr auto kBlocks = std::to_array<std::string_view>(
    {"p",      "div",    "li",    "ul",      "ol",      "tr",         "table",   "h1",
     "h2",     "h3",     "h4",    "h5",      "h6",      "blockquote", "section", "article",
     "header", "footer", "hr",    "dt",      "dd",      "dl",         "figure",  "figcaption",
     "main",   "nav",    "aside", "caption", "details", "summary"});

constexpr auto kUnread = std::to_array<std::string_view>(
    {"script", "style", "template", "svg", "math", "noscript", "iframe", "object", "title"});

}  // namespace

// Content up to "</script" or the like.
MarkupFilter::Taken MarkupFilter::skip_element() {
  const std::string_view text = rest();
  const size_t mark = text.find(skipped_ == "!--" ? '-' : '<');
  if (mark > 0) {
    return std::min(mark, text.size());
  }
  const std::string close = skipped_ == "!--" ? "-->" : "</" + skipped_;
  if (text.size() < close.size()) {
    return final_ ? text.size() : 0;
  }
  if (!starts_with_but_for_case(text, close)) {
    return 1;
  }
  const bool comment = skipped_ == "!--";
  skipped_.clear();
  // The end tag itself is read as a tag.
  return comment ? close.size() : read_tag();
}

// Content of a hidden element: tags alone are looked at.
MarkupFilter::Taken MarkupFilter::skip_hidden() {
  const std::string_view text = rest();
  const size_t tag = text.find('<');
  return tag > 0 ? std::min(tag, text.size()) : read_tag();
}

MarkupFilter::Taken MarkupFilter::read_tag() {
  const std::string_view text = rest();
  if (text.size() < 4 && !final_) {
    return 0;
  }
  if (text.starts_with("<!--")) {
    skipped_ = "!--";
    return 4;
  }
  const char first = text.size() > 1 ? text[1] : ' ';
  if (!is_ascii_letter(first) && first != '/' && first != '!' && first != '?') {
    return literal(1);
  }
  char quote = 0;
  const size_t limit = std::min(text.size(), kLongestTag);
  for (size_t i = 1; i < limit; ++i) {
    if (quote != 0) {
      quote = text[i] == quote ? '\0' : quote;
    } else if ((text[i] == '"' || text[i] == '\'') && text[i - 1] == '=') {
      quote = text[i];
    } else if (text[i] == '<') {
      return literal(1);
    } else if (text[i] == '>') {
      follow_tag(text.substr(1, i - 1));
      return i + 1;
    }
  }
  return final_ || limit == kLongestTag ? literal(1) : 0;
}

bool MarkupFilter::take_hidden(std::string_view tag, std::string_view name, bool closes) {
  if (hidden_.is_open()) {
    const bool contains = !is_void_element(name) && !tag.ends_with('/');
    const bool inside =
        hidden_.take(name, closes, contains, among(kBlocks, name)) == HiddenElement::Tag::Inside;
    if (inside && !closes && hidden_.is_open() && among(kUnread, name) && contains) {
      skipped_ = name;  // its text is no tags
    }
    if (inside) {
      return true;
    }
  }
  std::string_view rest = tag.substr(std::min(tag.find_first_of(" \t\r\n/"), tag.size()));
  std::string_view attribute;
  std::string_view value;
  bool hides = false;
  while (!closes && !hides && next_attribute(rest, attribute, value)) {
    hides = is_hiding(ascii_lower(attribute), value);
  }
  if (hides && !is_void_element(name) && !tag.ends_with('/')) {
    if (among(kBlocks, name)) {
      paragraph(0);
    }
    hidden_.open(name);
    if (among(kUnread, name)) {
      skipped_ = name;
    }
  }
  return hides && name != "br";
}

void MarkupFilter::follow_list_tag(std::string_view tag, std::string_view name, bool closes) {
  if (name == "li") {
    item_ = closes ? std::string() : lists_.next(attribute_of(tag, "value"));
    return;
  }
  item_.clear();
  if (closes) {
    lists_.close();
  } else if (name == "ul") {
    lists_.open_plain();
  } else {
    std::string_view rest = tag.substr(2);
    std::string_view attribute;
    std::string_view value;
    bool reversed = false;
    while (next_attribute(rest, attribute, value)) {
      reversed = reversed || ascii_lower(attribute) == "reversed";
    }
    lists_.open_ordered(attribute_of(tag, "start"), attribute_of(tag, "type"), reversed,
                        is_unmarked_list(attribute_of(tag, "style")));
  }
}

// A tag without its angle brackets.
void MarkupFilter::follow_tag(std::string_view tag) {
  if (!hidden_.is_open() && options_.kind == MarkupKind::Markdown &&
      (tag.find("://") < 8 ||
       (tag.find('@') != std::string_view::npos && tag.find(' ') == std::string_view::npos))) {
    put_plain(tag, 1);  // <https://example.com>
    return;
  }
  const bool closes = tag.starts_with('/');
  const std::string_view body = tag.substr(closes ? 1 : 0);
  const size_t end = std::min({body.find_first_of(" \t\r\n/"), body.size(), kLongestName});
  const std::string name = ascii_lower(body.substr(0, end));
  if (take_hidden(body, name, closes)) {
    return;
  }
  if (among(kBlocks, name)) {
    paragraph(0);
    if (name == "ol" || name == "ul" || name == "li") {
      follow_list_tag(body, name, closes);
    }
  } else if (name == "br") {
    put("\n", 0, 0);
  } else if ((name == "td" || name == "th") && !closes && breaks_ == 0) {
    put(", ", 0, 0);
  } else if (name == "img") {
    put(attribute_of(tag, "alt"), 0, 0);
  } else if (!closes && name == "pre") {
    begin_code();
    skipped_ = options_.code == CodeBlocks::Read ? "" : "pre";
  } else if (!closes && among(kUnread, name) && !tag.ends_with('/')) {
    skipped_ = name;
  }
}

MarkupFilter::Taken MarkupFilter::read_entity() {
  const std::string_view text = rest().substr(0, kLongestEntity);
  const size_t end =
      text.find_first_not_of("#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
  if (end == std::string_view::npos) {
    return !final_ && text.size() < kLongestEntity ? 0 : literal(1);
  }
  const auto character =
      text[end] == ';' ? entity_text(text.substr(1, end - 1)) : std::optional<std::string>();
  if (!character) {
    return literal(1);
  }
  put(*character, 0, end + 1);
  return end + 1;
}

}  // namespace mynah
