#include "cli/chat/shown_text.h"

#include "base/control_characters.h"

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

}  // namespace mynah::cli
