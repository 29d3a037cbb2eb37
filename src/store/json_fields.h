// Fields of a JSON object that came from a file: absent and of the wrong type are the same, nothing
// throws.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace mynah {

// The object's text field, or empty.
[[nodiscard]] inline std::string text_field(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The object's number field, or 0.
[[nodiscard]] inline uint64_t size_field(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

}  // namespace mynah
