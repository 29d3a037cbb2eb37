#include "formats/text_tree.h"

#include <algorithm>
#include <ranges>

namespace mynah {

const TextTree& TextTree::operator[](std::string_view name) const {
  static const TextTree nothing;
  if (kind != Kind::Table) {
    return nothing;
  }
  const auto backwards = std::views::reverse(members);
  const auto found = std::ranges::find(backwards, name, &Member::name);
  return found == backwards.end() ? nothing : found->value;
}

bool TextTree::has(std::string_view name) const {
  return kind == Kind::Table && std::ranges::find(members, name, &Member::name) != members.end();
}

}  // namespace mynah
