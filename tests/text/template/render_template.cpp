// Renders templates for compare_templates.py: a JSON object a line in, one out.
//   {"template": text, "context": {...}, "own": {...}} -> {"pieces": [[text, given], ...]}
//                                                      or {"kind": ..., "line": ..., "message":
//                                                      ...}
// The clock stands at 2024-03-09 17:05:42, a Saturday, for strftime_now.
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "text/template/template.h"

namespace mynah {
namespace {

using Json = nlohmann::ordered_json;

Json error_of(const TemplateError& error) {
  static constexpr const char* kKinds[] = {"syntax", "unsupported", "fault", "refusal", "limit"};
  return {{"kind", kKinds[static_cast<size_t>(error.kind)]},
          {"line", error.line},
          {"message", error.message}};
}

Json answer(const Json& request) {
  const auto made = Template::parse(request["template"].get_ref<const std::string&>());
  if (!made) {
    return error_of(made.error());
  }
  RenderOptions options;
  options.own = request.value("own", Json::object());
  options.now = [] {
    std::tm now{};
    now.tm_year = 124;
    now.tm_mon = 2;
    now.tm_mday = 9;
    now.tm_hour = 17;
    now.tm_min = 5;
    now.tm_sec = 42;
    now.tm_wday = 6;
    now.tm_yday = 68;
    return now;
  };
  const auto pieces = made->render(request["context"], options);
  if (!pieces) {
    return error_of(pieces.error());
  }
  Json out = Json::array();
  for (const TemplatePiece& piece : *pieces) {
    out.push_back({piece.text, piece.given});
  }
  return {{"pieces", out}};
}

}  // namespace
}  // namespace mynah

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << mynah::answer(mynah::Json::parse(line)).dump() << std::endl;
  }
  return 0;
}
