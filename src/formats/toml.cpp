#include <sstream>

#include <fmt/format.h>

#include "formats/text_tree.h"
#include "formats/toml_plus_plus.h"

namespace mynah {

namespace {

TextTree tree_of(const toml::node& node, int depth);

std::string written(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_boolean<decltype(value)>) {
      out << (value.get() ? "true" : "false");
    } else if constexpr (toml::is_value<decltype(value)>) {
      out << value.get();
    }
  });
  return out.str();
}

// What is deeper is left out: toml++ refuses it in values (256 levels), and no file needs it.
void add(TextTree& tree, std::string name, const toml::node& node, int depth) {
  if (depth < kMostTextTreeDepth) {
    tree.members.push_back({.name = std::move(name), .value = tree_of(node, depth + 1)});
  }
}

TextTree tree_of(const toml::node& node, int depth) {
  TextTree tree;
  tree.line = node.source().begin.line;
  if (const toml::table* table = node.as_table()) {
    tree.kind = TextTree::Kind::Table;
    for (const auto& [key, value] : *table) {
      add(tree, std::string(key.str()), value, depth);
    }
  } else if (const toml::array* array = node.as_array()) {
    tree.kind = TextTree::Kind::List;
    for (const toml::node& value : *array) {
      add(tree, {}, value, depth);
    }
  } else if (const toml::value<std::string>* text = node.as_string()) {
    tree.kind = TextTree::Kind::Text;
    tree.text = text->get();
    tree.quoted = true;
  } else {
    tree.kind = TextTree::Kind::Text;
    tree.text = written(node);
  }
  return tree;
}

}  // namespace

Result<TextTree> parse_toml(std::string_view text, const std::string& file) {
  const toml::parse_result parsed = toml::parse(text, std::string_view(file));
  if (!parsed) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}:{}: {}", file, parsed.error().source().begin.line,
                            std::string(parsed.error().description())));
  }
  return tree_of(parsed.table(), 0);
}

}  // namespace mynah
