// Renders templates for compare_templates.py: a JSON object a line in, one out.
//   {"template": text, "context": {...}, "own": {...}} -> {"pieces": [[text, given], ...]}
//                                                      or {"kind": ..., "line": ..., "message":
//                                                      ...}
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "saturday.h"
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
  options.now = saturday;
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
