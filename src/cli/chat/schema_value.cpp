#include "cli/chat/schema_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "formats/json.h"

namespace mynah::cli {
namespace {

using JsonValue = nlohmann::json;

std::string written(const JsonValue& value) {
  return value.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
}

std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps;
  for (size_t i = 0; i < path.size(); ++i) {
    const std::string_view rest = path.substr(i);
    if (rest.front() == '/') {
      steps.emplace_back();
    } else if (!steps.empty()) {
      const bool is_escape = rest.starts_with("~0") || rest.starts_with("~1");
      steps.back() += !is_escape ? rest[0] : rest[1] == '0' ? '~' : '/';
      i += is_escape ? 1 : 0;
    }
  }
  return steps;
}

const JsonValue* member(const JsonValue& json, const std::string& step) {
  if (json.is_object()) {
    const auto found = json.find(step);
    return found == json.end() ? nullptr : &*found;
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool is_there = json.is_array() && error == std::errc() &&
                        end == step.data() + step.size() && index < json.size();
  return is_there ? &json[index] : nullptr;
}

const JsonValue* at(const JsonValue* json, const std::vector<std::string>& steps) {
  for (size_t i = 0; i < steps.size() && json != nullptr; ++i) {
    json = member(*json, steps[i]);
  }
  return json;
}

// What a schema refers to, where that is in the same document.
const JsonValue* resolved(const JsonValue& document, const JsonValue* schema) {
  constexpr int kMostReferences = 16;
  for (int i = 0; i < kMostReferences && schema != nullptr; ++i) {
    const JsonValue* const reference = schema->is_object() ? member(*schema, "$ref") : nullptr;
    if (reference == nullptr) {
      return schema;
    }
    const std::string place = reference->is_string() ? reference->get<std::string>() : "";
    schema = place.starts_with('#') ? at(&document, steps_of(place.substr(1))) : nullptr;
  }
  return nullptr;
}

// The schema of a value's member or item.
const JsonValue* schema_of(const JsonValue& schema, const JsonValue& value,
                           const std::string& step) {
  if (!schema.is_object()) {
    return nullptr;
  }
  if (value.is_object()) {
    const JsonValue* const listed = member(schema, "properties");
    const JsonValue* const own = listed == nullptr ? nullptr : member(*listed, step);
    return own != nullptr ? own : member(schema, "additionalProperties");
  }
  const JsonValue* const first = member(schema, "prefixItems");
  const JsonValue* const own = first == nullptr ? nullptr : member(*first, step);
  return own != nullptr ? own : member(schema, "items");
}

bool is_of_type(const JsonValue& value, std::string_view type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
         (type == "integer" && value.is_number_integer()) ||
         (type == "boolean" && value.is_boolean()) || (type == "null" && value.is_null()) ||
         type.empty();
}

// "an integer"; of a list each.
std::string types_wanted(const JsonValue& types) {
  std::vector<std::string> names;
  for (const JsonValue& type : types.is_array() ? types : JsonValue::array({types})) {
    const std::string name = type.is_string() ? type.get<std::string>() : "";
    const bool is_open = name.starts_with('a') || name.starts_with('i') || name.starts_with('o');
    names.push_back(name == "null" ? name : fmt::format("{} {}", is_open ? "an" : "a", name));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string wanted_values(const JsonValue& values) {
  constexpr size_t kMost = 8;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kMost, values.size()); ++i) {
    names.push_back(written(values[i]));
  }
  return fmt::format("{}{}", fmt::join(names, ", "), values.size() > kMost ? ", ..." : "");
}

// Of a number, or of a text's length.
std::string bound_broken(const JsonValue& schema, double number, bool is_length) {
  struct Bound {
    const char* keyword;
    const char* words;
    bool is_length;
    bool (*keeps)(double number, double bound);
  };

  constexpr std::array<Bound, 6> kBounds = {{
      {"minimum", "at least", false, [](double a, double b) { return a >= b; }},
      {"maximum", "at most", false, [](double a, double b) { return a <= b; }},
      {"exclusiveMinimum", "more than", false, [](double a, double b) { return a > b; }},
      {"exclusiveMaximum", "less than", false, [](double a, double b) { return a < b; }},
      {"minLength", "at least", true, [](double a, double b) { return a >= b; }},
      {"maxLength", "at most", true, [](double a, double b) { return a <= b; }},
  }};
  for (const Bound& bound : kBounds) {
    const JsonValue* const said =
        bound.is_length == is_length ? member(schema, bound.keyword) : nullptr;
    if (said != nullptr && said->is_number() && !bound.keeps(number, said->get<double>())) {
      return fmt::format("{} {}{} ({})", bound.words, written(*said),
                         is_length ? " characters" : "", bound.keyword);
    }
  }
  return {};
}

std::string broken(const JsonValue& schema, const JsonValue& value, bool is_within) {
  for (const char* const several : {"anyOf", "oneOf", "allOf"}) {
    if (schema.contains(several)) {
      return {};
    }
  }
  if (const JsonValue* const only = member(schema, "const"); only != nullptr && *only != value) {
    return written(*only) + " (const)";
  }
  if (const JsonValue* const some = member(schema, "enum");
      some != nullptr && some->is_array() && std::ranges::find(*some, value) == some->end()) {
    return fmt::format("{}{} (enum)", some->size() > 1 ? "one of " : "", wanted_values(*some));
  }
  if (const JsonValue* const types = member(schema, "type"); types != nullptr) {
    const JsonValue each = types->is_array() ? *types : JsonValue::array({*types});
    const bool fits = std::ranges::any_of(each, [&](const JsonValue& type) {
      return is_of_type(value, type.is_string() ? type.get<std::string>() : "");
    });
    if (!fits) {
      return types_wanted(*types) + " (type)";
    }
  }
  if (value.is_number()) {
    return bound_broken(schema, value.get<double>(), false);
  }
  if (!value.is_string()) {
    return {};
  }
  const auto text = value.get<std::string>();
  const auto characters =
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  if (std::string bound = bound_broken(schema, static_cast<double>(characters), true);
      !bound.empty()) {
    return bound;
  }
  for (const char* const keyword : {"pattern", "format"}) {
    const JsonValue* const said = is_within ? member(schema, keyword) : nullptr;
    if (said != nullptr && said->is_string()) {
      return fmt::format("{} ({})", said->get<std::string>(), keyword);
    }
  }
  return {};
}

}  // namespace

std::optional<ValueFault> fault_of_value(const std::string& schema, const std::string& text,
                                         std::string_view path, bool is_within) {
  const auto document = parse_json(schema, "schema");
  const auto whole = parse_json(text, "text");
  if (!document || !whole) {
    return std::nullopt;
  }
  const JsonValue* value = &*whole;
  const JsonValue* there = resolved(*document, &*document);
  for (const std::string& step : steps_of(path)) {
    const JsonValue* const next = there == nullptr ? nullptr : schema_of(*there, *value, step);
    value = member(*value, step);
    there = next == nullptr ? nullptr : resolved(*document, next);
    if (value == nullptr || there == nullptr) {
      return std::nullopt;
    }
  }
  if (there == nullptr || !there->is_object()) {
    return std::nullopt;
  }
  std::string wanted = broken(*there, *value, is_within);
  if (wanted.empty()) {
    return std::nullopt;
  }
  return ValueFault{.wanted = std::move(wanted), .found = written(*value)};
}

}  // namespace mynah::cli
