#include "talk/tools/tool.h"

#include <fmt/format.h>

#include "text/utf8.h"

namespace mynah::talk {

std::string Tool::shown(const ToolJson& arguments) const {
  return fmt::format("{} {}", facts().name,
                     arguments.dump(-1, ' ', false, ToolJson::error_handler_t::replace));
}

Result<std::string> text_argument(const ToolJson& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || found->is_null()) {
    return std::string();
  }
  if (!found->is_string()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a text, found {}", name, found->type_name()));
  }
  return found->get<std::string>();
}

std::string bounded_answer(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) {
    return replace_invalid_utf8(text);
  }
  const std::string_view begun = text.substr(0, most_bytes);
  const std::string_view whole = begun.substr(0, begun.size() - incomplete_utf8_tail(begun));
  return fmt::format("{}\n[cut here: {} of {} bytes are shown]", replace_invalid_utf8(whole),
                     whole.size(), text.size());
}

}  // namespace mynah::talk
