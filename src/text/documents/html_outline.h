// HtmlOutline: the elements of an HTML page with the bytes and the text that each of them spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// What an element says of itself, by its epub:type, role or class.
enum class NoteRole : uint8_t {
  None,
  Mark,       // points to a note
  MaybeMark,  // by a class that marks and notes share, or that other links have too
  Note,
  Notes,  // several
  Back,   // leads from a note to its mark
};

struct OutlineElement {
  static constexpr size_t kNone = ~size_t{0};

  std::string name{};  // in small letters; "": the page itself
  std::string id{};
  std::string href{};     // of a link
  size_t parent = kNone;  // an index
  size_t begin = 0;       // bytes of the page, tags included
  size_t end = 0;
  size_t text_begin = 0;  // bytes of HtmlOutline::text
  size_t text_end = 0;
  int heading = 0;  // 1 to 6; 0: none
  NoteRole role = NoteRole::None;
  bool by_type = false;  // the role is of epub:type or role, not of a class
  bool block = false;
  bool raised = false;    // <sup>, or a style that raises
  bool has_text = false;  // text of its own, not of a block within it
};

struct HtmlOutline {
  std::vector<OutlineElement> elements;  // as they begin; the first is the page itself
  std::string text;                      // a line break where a block or <br> begins or ends
  std::map<std::string, size_t> places;  // elements by id, and by the name of an <a>

  [[nodiscard]] std::string_view text_of(const OutlineElement& element) const {
    return std::string_view(text).substr(element.text_begin, element.text_end - element.text_begin);
  }

  // The nearest element around it, or itself, that is a block.
  [[nodiscard]] size_t block_of(size_t element) const;

  [[nodiscard]] bool is_within(size_t element, size_t outer) const;
};

// Any bytes. Blocks, links, raised text and whatever has an id, a class or a role are elements;
// other inline ones are passed over, and so is everything beyond 500,000 elements.
[[nodiscard]] HtmlOutline outline_of(std::string_view page);

// Whether an element's name is one of these.
[[nodiscard]] bool is_one_of(std::string_view name, std::span<const std::string_view> names);

// The level of "h1" to "h6"; 0 for other names.
[[nodiscard]] int heading_level(std::string_view name);

// Whether an element of this name begins a paragraph.
[[nodiscard]] bool is_html_block(std::string_view name);

}  // namespace mynah
