// JSON that a client sent, and that it is sent.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mynah::server {

// The object that the text is. Discarded (is_object() is false) where it is none, or where values
// stand in values so deep that looking at them would take all of a thread's stack.
[[nodiscard]] nlohmann::ordered_json parse_object(std::string_view text);

// A text that was sent, and the object that it is.
struct SentJson {
  explicit SentJson(std::string_view sent) : text(sent), object(parse_object(sent)) {}

  std::string_view text;
  nlohmann::ordered_json object;  // discarded where it is none
};

// What is wrong with a text that is not JSON, and where; "": it is JSON.
[[nodiscard]] std::string json_fault(std::string_view text);

// On one line without its end; text that is not UTF-8 gets U+FFFD where it is broken.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace mynah::server
