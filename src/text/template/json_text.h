// tojson as transformers has it: Python's json.dumps without escapes of HTML.
#pragma once

#include <optional>

#include "text/template/renderer.h"

namespace mynah::jinja {

// json.dumps(value, ensure_ascii, indent, separators, sort_keys). Fault where the value has what
// JSON lacks.
struct JsonStyle {
  bool ensure_ascii = false;
  std::optional<std::string> indent{};  // of one level; none: all on one line
  MarkedText item_separator{};
  MarkedText key_separator{};
  bool sort_keys = false;
};

[[nodiscard]] TemplateResult<MarkedText> json_text(Renderer& renderer, const Value& value,
                                                   const JsonStyle& style);

}  // namespace mynah::jinja
