// Tables that are a part of the program: lines of fields with tabs between them, "#" begins a
// comment.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace mynah {

// Calls `use` with the first fields of each line; those that a line does not have are empty.
template <size_t kFields, class Use>
void for_each_tsv_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) {
      const size_t tab = std::min(line.find('\t'), line.size());
      field = line.substr(0, tab);
      line.remove_prefix(std::min(tab + 1, line.size()));
    }
    use(fields);
  }
}

}  // namespace mynah
