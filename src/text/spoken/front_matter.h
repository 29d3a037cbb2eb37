// Front matter: facts about a text, in YAML between two lines "---" at its begin, as Jekyll, Hugo
// and pandoc have them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

struct FrontMatter {
  enum class State : unsigned char {
    None,
    NeedsMore,  // it begins so, and its end is not yet there
    Whole,
  };

  State state = State::None;
  size_t bytes = 0;  // with its last line
  std::string title;
  std::string author;
  std::string language;  // BCP 47, as the file has it
};

// What stands at the begin of a text. `whole`: the text does not go on. A first line "---" without
// a line such as "title: ..." behind it is a line across the page; facts that do not end within
// 8 KB are text. Of YAML only plain and quoted values on the line of their name are read.
[[nodiscard]] FrontMatter read_front_matter(std::string_view text, bool whole);

}  // namespace mynah
