#include "cli/chat/shown_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/control_characters.h"
#include "text/utf8.h"

namespace mynah::cli {

std::string shown_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t control = control_length(text, i);
    if (control == 0 || text[i] == '\n' || text[i] == '\t') {
      shown += text[i];
    } else {
      i += control - 1;
    }
  }
  return shown;
}

std::string beginning_of(std::string_view text, size_t most) {
  std::string_view beginning = text.substr(0, most);
  beginning.remove_suffix(incomplete_utf8_tail(beginning));
  return beginning.size() < text.size() ? fmt::format("{} ...", beginning) : std::string(beginning);
}

std::string recalled_line(std::string_view day, std::string_view text) {
  constexpr size_t kMostBytes = 120;
  std::string line = shown_text(
      fmt::format("[recalled, said on {}: {}]", day, beginning_of(trimmed(text), kMostBytes)));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace mynah::cli
