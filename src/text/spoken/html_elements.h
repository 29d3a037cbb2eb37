// What HTML's elements mean to a listener, whoever reads the tags: which are hidden, and which
// number their items.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// Elements without content and end tag (HTML living standard, 13.1.2).
[[nodiscard]] bool is_void_element(std::string_view name);

// Whether an attribute keeps its element from the eye, or from those who listen: hidden,
// aria-hidden="true" (WAI-ARIA 1.2, 6.6), style="display: none" and "visibility: hidden". What a
// style sheet hides is not known. The name is in small letters.
[[nodiscard]] bool is_hiding(std::string_view name, std::string_view value);

// An element whose content is left out, up to where it ends. Names are in small letters.
class HiddenElement {
 public:
  [[nodiscard]] bool is_open() const { return !name_.empty(); }

  // Nothing is open yet.
  void open(std::string_view name);

  enum class Tag : unsigned char {
    Inside,   // of what is hidden
    Follows,  // the element had ended before this tag: a paragraph or item whose end is not written
  };

  // A tag while an element is open. `contains`: it is a begin that has an end; `block`: of a block.
  Tag take(std::string_view name, bool closes, bool contains, bool block);

 private:
  std::string name_;
  size_t depth_ = 0;  // of elements of this name; of lists in an item
};

// The numbers of an <ol>'s items, which are said as Markdown's are.
class ListNumbers {
 public:
  // <ol> and <ul>, whose items have none. `start` and `type` are attributes' values or empty;
  // `unmarked`: its style says that no numbers are shown. A list that counts down has none where no
  // start is written, as its items are not counted ahead.
  void open_ordered(std::string_view start, std::string_view type, bool reversed, bool unmarked);
  void open_plain();
  void close();

  // What stands before the next item: "3. ", "c) "; empty where items have no number. `value`: of
  // the attribute or empty.
  [[nodiscard]] std::string next(std::string_view value);

 private:
  struct List {
    long next = 1;
    int step = 0;  // 0: not numbered
    char type = '1';
  };

  std::vector<List> lists_;
  size_t deeper_ = 0;  // lists that are open beyond those that are kept
};

// Whether a style says that a list has no marks: "list-style: none", "list-style-type: none".
[[nodiscard]] bool is_unmarked_list(std::string_view style);

}  // namespace mynah
