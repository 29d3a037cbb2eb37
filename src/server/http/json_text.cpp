#include "server/http/json_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace mynah::server {
namespace {

// Clients nest four or five deep.
constexpr size_t kMostDepth = 64;
// An object's members are looked for one after the other, and each as it is read (ordered_json).
constexpr int kMostMembers = 1000;
// A value takes a hundred bytes where two were sent; clients send some thousands.
constexpr int kMostValues = 500'000;

bool is_too_much(std::string_view text) {
  std::array<int, kMostDepth + 1> members{};
  size_t depth = 0;
  int values = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostDepth || ++values > kMostValues) {
        return true;
      }
      members[depth] = 0;
    } else if (c == ',') {
      if (++values > kMostValues) {
        return true;
      }
    } else if (c == ':') {
      if (++members[depth] > kMostMembers) {
        return true;
      }
    } else if ((c == ']' || c == '}') && depth-- == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

nlohmann::ordered_json parse_object(std::string_view text) {
  using Json = nlohmann::ordered_json;
  if (is_too_much(text)) {
    return Json(Json::value_t::discarded);
  }
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_fault(std::string_view text) {
  if (is_too_much(text)) {
    return fmt::format(
        "JSON with values in values more than {} deep, or more than {} members or {} values",
        kMostDepth, kMostMembers, kMostValues);
  }
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    static_cast<void>(json);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    return fmt::format("what is no JSON near byte {} of {}", std::min(error.byte, text.size()),
                       text.size());
  } catch (const nlohmann::ordered_json::exception&) {
    return "JSON with a number that is too large";
  }
  return {};
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mynah::server
