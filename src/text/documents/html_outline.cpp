#include "text/documents/html_outline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/documents/document_words.h"
#include "text/documents/tags.h"
#include "text/spoken/html_elements.h"

namespace mynah {
namespace {

constexpr size_t kMostElements = 500'000;
constexpr size_t kDeepest = 512;

constexpr std::array<std::string_view, 27> kBlocks = {
    "p",     "div",  "section", "article",    "header",  "footer", "main",
    "aside", "ul",   "ol",      "li",         "dl",      "dt",     "dd",
    "table", "tr",   "caption", "blockquote", "pre",     "figure", "figcaption",
    "hr",    "body", "address", "details",    "summary", "center"};

bool is_silent(std::string_view name) {
  constexpr std::array<std::string_view, 7> kSilentInOutline = {
      "script", "style", "head", "template", "svg", "math", "noscript"};
  return is_one_of(name, kSilentInOutline);
}

bool any_word(std::string_view words, DocumentWord kind) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find_first_of(" \t\n", at), words.size());
    if (end > at && is_document_word(kind, words.substr(at, end - at))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

// Types and roles say more than classes.
void set_role(OutlineElement& element, const Tag& tag) {
  using Roles = std::array<std::pair<DocumentWord, NoteRole>, 4>;
  constexpr Roles kTypes = {{{DocumentWord::TypeMark, NoteRole::Mark},
                             {DocumentWord::TypeNotes, NoteRole::Notes},
                             {DocumentWord::TypeNote, NoteRole::Note},
                             {DocumentWord::TypeBack, NoteRole::Back}}};
  constexpr Roles kClasses = {{{DocumentWord::ClassMark, NoteRole::Mark},
                               {DocumentWord::ClassBack, NoteRole::Back},
                               {DocumentWord::ClassNotes, NoteRole::Notes},
                               {DocumentWord::ClassNote, NoteRole::Note}}};
  for (const auto& [kind, role] : kTypes) {
    if (any_word(tag.attribute("epub:type"), kind) || any_word(tag.attribute("role"), kind)) {
      element.role = role;
      element.by_type = true;
      return;
    }
  }
  const std::string_view classes = tag.attribute("class");
  for (const auto& [kind, role] : kClasses) {
    const bool of_block = role == NoteRole::Note || role == NoteRole::Notes;
    if (any_word(classes, kind) && (!of_block || element.block || element.name == "span")) {
      element.role = role;
      return;
    }
  }
  if (tag.attribute("style").contains("mso-element:footnote") ||
      tag.attribute("style").contains("mso-element:endnote")) {
    element.role = NoteRole::Notes;  // a list of them, or one
  } else if (!element.block && any_word(classes, DocumentWord::ClassMaybe)) {
    element.role = NoteRole::MaybeMark;
  }
}

bool raises(const Tag& tag) {
  const std::string_view classes = tag.attribute("class");
  return tag.name == "sup" || tag.attribute("style").contains("vertical-align:super") ||
         tag.attribute("style").contains("vertical-align: super") || has_word(classes, "sup") ||
         has_word(classes, "super") || has_word(classes, "superscript");
}

class Outliner {
 public:
  explicit Outliner(std::string_view page) : page_(page), tags_(page) {
    outline_.elements.push_back({.end = page.size(), .block = true});
    open_.push_back({.name = {}, .element = 0});
  }

  HtmlOutline read() {
    for (;;) {
      const size_t begin = tags_.position();
      const auto tag = tags_.next();
      if (!tag) {
        break;
      }
      switch (tag->kind) {
        case Tag::Kind::Text:
          add_text(tag->text);
          break;
        case Tag::Kind::Open:
          open(*tag, begin);
          break;
        case Tag::Kind::Close:
          close(tag->name, begin);
          break;
      }
    }
    while (open_.size() > 1) {
      end_last(page_.size());
    }
    outline_.elements.front().text_end = outline_.text.size();
    return std::move(outline_);
  }

 private:
  struct Open {
    std::string name;
    size_t element = OutlineElement::kNone;  // kNone: not kept
  };

  void add_text(const std::string& text) {
    if (!silent_.empty()) {
      return;
    }
    outline_.text += text;
    if (text.find_first_not_of(" \t\r\n\f") != std::string::npos) {
      outline_.elements[inner_block()].has_text = true;
    }
  }

  [[nodiscard]] size_t inner(bool block) const {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      if (open->element != OutlineElement::kNone &&
          (!block || outline_.elements[open->element].block)) {
        return open->element;
      }
    }
    return 0;
  }

  [[nodiscard]] size_t inner_block() const { return inner(true); }

  // The end tags that nobody needs to write (HTML living standard, 13.1.2.4).
  void end_before(std::string_view name, size_t at) {
    constexpr std::array<std::string_view, 5> kAfterP = {"p", "li", "dt", "dd", "tr"};
    const auto end_open = [&](std::string_view inner, std::string_view around) {
      for (size_t i = open_.size(); i-- > 1;) {
        if (open_[i].name == inner) {
          while (open_.size() > i) {
            end_last(at);
          }
          return;
        }
        if (open_[i].name == around || (around.empty() && is_html_block(open_[i].name))) {
          return;
        }
      }
    };
    if (is_one_of(name, kAfterP) || heading_level(name) > 0) {
      end_open("p", {});
    }
    if (name == "li") {
      end_open("li", "ul");
    } else if (name == "dt" || name == "dd") {
      end_open(name == "dt" ? "dd" : "dt", "dl");
      end_open(name, "dl");
    } else if (name == "tr") {
      end_open("tr", "table");
    }
  }

  void end_last(size_t at) {
    const Open last = std::move(open_.back());
    open_.pop_back();
    if (last.element == OutlineElement::kNone) {
      return;
    }
    OutlineElement& element = outline_.elements[last.element];
    element.end = at;
    element.text_end = outline_.text.size();
    if (element.block) {
      break_text();
    }
  }

  void break_text() {
    if (!outline_.text.empty() && outline_.text.back() != '\n') {
      outline_.text += '\n';
    }
  }

  void open(const Tag& tag, size_t begin) {
    if (!silent_.empty()) {
      return;
    }
    const bool contains = !tag.closed && !is_void_element(tag.name);
    if (is_silent(tag.name)) {
      if (contains) {
        silent_ = tag.name;
      }
      return;
    }
    end_before(tag.name, begin);
    if (tag.name == "br" || (tag.name == "hr" && !contains)) {
      break_text();
    }
    const std::string_view id = tag.attribute("id");
    const std::string_view name = tag.name == "a" ? tag.attribute("name") : std::string_view();
    const bool block = is_html_block(tag.name) || heading_level(tag.name) > 0;
    OutlineElement element{.name = tag.name,
                           .id = std::string(id.empty() ? name : id),
                           .href = tag.name == "a" ? std::string(tag.attribute("href")) : "",
                           .begin = begin,
                           .end = tags_.position(),
                           .heading = heading_level(tag.name),
                           .block = block,
                           .raised = raises(tag)};
    set_role(element, tag);
    const bool kept = block || !element.id.empty() || tag.name == "a" || element.raised ||
                      element.role != NoteRole::None;
    if (block) {
      break_text();
    }
    if (contains && open_.size() >= kDeepest) {
      return;
    }
    Open opened{.name = tag.name};
    if (kept && outline_.elements.size() < kMostElements) {
      element.parent = inner(false);
      element.text_begin = outline_.text.size();
      element.text_end = outline_.text.size();
      opened.element = outline_.elements.size();
      for (const std::string_view place : {id, name}) {
        if (!place.empty()) {
          outline_.places.emplace(place, opened.element);
        }
      }
      outline_.elements.push_back(std::move(element));
    }
    if (contains) {
      open_.push_back(std::move(opened));
    }
  }

  void close(const std::string& name, size_t begin) {
    if (!silent_.empty()) {
      if (name == silent_) {
        silent_.clear();
      }
      return;
    }
    const bool block = is_html_block(name) || heading_level(name) > 0;
    for (size_t i = open_.size(); i-- > 1;) {
      if (open_[i].name == name) {
        while (open_.size() > i + 1) {
          end_last(begin);
        }
        end_last(tags_.position());
        return;
      }
      if (!block && open_[i].element != OutlineElement::kNone &&
          outline_.elements[open_[i].element].block) {
        return;
      }
    }
  }

  std::string_view page_;
  TagReader tags_;
  HtmlOutline outline_;
  std::vector<Open> open_;
  std::string silent_;
};

}  // namespace

size_t HtmlOutline::block_of(size_t element) const {
  while (!elements[element].block) {
    element = elements[element].parent;
  }
  return element;
}

bool HtmlOutline::is_within(size_t element, size_t outer) const {
  return elements[element].begin >= elements[outer].begin &&
         elements[element].end <= elements[outer].end;
}

HtmlOutline outline_of(std::string_view page) {
  return Outliner(page).read();
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

int heading_level(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

bool is_html_block(std::string_view name) {
  return is_one_of(name, kBlocks);
}

}  // namespace mynah
