#include "server/http/json_text.h"

#include <cstddef>

namespace mynah::server {
namespace {

// Clients nest four or five deep.
constexpr int kMostDepth = 64;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostDepth) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

nlohmann::ordered_json parse_object(std::string_view text) {
  using Json = nlohmann::ordered_json;
  if (is_too_deep(text)) {
    return Json(Json::value_t::discarded);
  }
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mynah::server
