// What TOML and YAML say: texts, lists and tables inside each other, each with its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// Lists and tables inside each other, at most.
inline constexpr int kMostTextTreeDepth = 64;

struct TextTree {
  enum class Kind : uint8_t { Nothing, Text, List, Table };

  struct Member;

  Kind kind = Kind::Nothing;
  std::string text;             // of Text: numbers, dates, true and false as they are written
  bool quoted = false;          // of Text: so it is one, whatever it looks like
  std::vector<Member> members;  // of List and Table, in their order
  uint64_t line = 0;            // from 1; 0: not known

  // A table's member, or nothing's tree where there is none or this is no table. Of several of one
  // name the last counts.
  [[nodiscard]] const TextTree& operator[](std::string_view name) const;

  // Whether a table has it.
  [[nodiscard]] bool has(std::string_view name) const;

  [[nodiscard]] bool is_nothing() const { return kind == Kind::Nothing; }

  [[nodiscard]] bool is_text() const { return kind == Kind::Text; }

  [[nodiscard]] bool is_list() const { return kind == Kind::List; }

  [[nodiscard]] bool is_table() const { return kind == Kind::Table; }
};

struct TextTree::Member {
  std::string name;  // empty: of a list
  TextTree value;
};

// Reads TOML 1.0 by toml++; what is deeper than kMostTextTreeDepth is left out. `file` names it in
// messages: "FILE:LINE: what is wrong".
[[nodiscard]] Result<TextTree> parse_toml(std::string_view text, const std::string& file);

// Reads the first document of YAML 1.1 by libyaml; JSON is YAML, too. Aliases are copied and merge
// keys ("<<") followed, up to a number of nodes that depends on the input's size: what grows beyond
// it is refused, as are an alias inside its own anchor and keys that are no texts.
[[nodiscard]] Result<TextTree> parse_yaml(std::string_view text, const std::string& file);

}  // namespace mynah
