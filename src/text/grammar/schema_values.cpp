#include "text/grammar/schema_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::grammar {
namespace {

// A double holds every whole number up to here.
constexpr double kMostExactDouble = 9007199254740992.0;  // 2^53

struct TypeName {
  std::string_view name;
  JsonTypes types;
};

constexpr std::array<TypeName, 7> kTypeNames = {{{"null", JsonType::Null},
                                                 {"boolean", JsonType::Boolean},
                                                 {"integer", JsonType::Integer},
                                                 {"number", JsonTypes::numbers()},
                                                 {"string", JsonType::String},
                                                 {"array", JsonType::Array},
                                                 {"object", JsonType::Object}}};

std::optional<JsonTypes> types_named(const Json& name) {
  if (!name.is_string()) {
    return std::nullopt;
  }
  const auto found =
      std::ranges::find(kTypeNames, name.get_ref<const std::string&>(), &TypeName::name);
  return found == kTypeNames.end() ? std::nullopt : std::optional(found->types);
}

}  // namespace

std::unexpected<Error> refuse_schema(const std::string& path, std::string_view what) {
  return fail(ErrorCode::Unsupported, fmt::format("schema {}: {}", path, what));
}

std::unexpected<Error> wrong_schema(const std::string& path, std::string_view what) {
  return fail(ErrorCode::InvalidInput, fmt::format("schema {}: {}", path, what));
}

Result<JsonTypes> schema_types(const SchemaPlace& at) {
  JsonTypes types;
  const auto add = [&](const Json& name) {
    const std::optional<JsonTypes> named = types_named(name);
    types = named ? types | *named : types;
    return named.has_value();
  };
  const Json& value = *at.schema;
  const bool is_list = value.is_array() && !value.empty();
  if (!(is_list ? std::ranges::all_of(value, add) : add(value))) {
    return wrong_schema(at.path,
                        "wanted one or several of null, boolean, integer, number, string, array, "
                        "object");
  }
  return types;
}

JsonTypes stated_types(const SchemaPlace& schema) {
  if (!schema.schema->contains("type")) {
    return {};
  }
  return schema_types(schema.at("type")).value_or(JsonTypes());
}

Result<int32_t> schema_count(const SchemaPlace& at) {
  const Json& value = *at.schema;
  if (!value.is_number() || std::trunc(value.get<double>()) != value.get<double>() ||
      value.get<double>() < 0) {
    return wrong_schema(at.path, "wanted a whole number from 0 up");
  }
  if (value.get<double>() > kMostRepeats) {
    return refuse_schema(at.path, fmt::format("wanted at most {}", kMostRepeats));
  }
  return static_cast<int32_t>(value.get<double>());
}

Status add_number_bound(const SchemaPlace& schema, const std::string& key, NumberBounds& bounds) {
  const SchemaPlace at = schema.at(key);
  const Json& value = *at.schema;
  const bool is_low = key == "minimum" || key == "exclusiveMinimum";
  const std::string exclusive = is_low ? "exclusiveMinimum" : "exclusiveMaximum";
  if (key == exclusive && value.is_boolean()) {
    return {};  // read with the plain one
  }
  if (!value.is_number()) {
    return wrong_schema(at.path, "wanted a number");
  }
  NumberBound bound;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return refuse_schema(at.path, "wanted a bound of at most 63 bits");
  }
  if (value.is_number_integer()) {
    bound.value = value.get<int64_t>();
  } else {
    const auto number = value.get<double>();
    if (std::trunc(number) != number || std::abs(number) > kMostExactDouble) {
      return refuse_schema(at.path, "a bound that is no whole number is not supported");
    }
    bound.value = static_cast<int64_t>(number);
  }
  bound.is_exclusive = key == exclusive || (schema.schema->contains(exclusive) &&
                                            schema.schema->at(exclusive) == Json(true));
  std::optional<NumberBound>& known = is_low ? bounds.low : bounds.high;
  const bool is_narrower = !known ||
                           (is_low ? bound.value > known->value : bound.value < known->value) ||
                           (bound.value == known->value && bound.is_exclusive);
  known = is_narrower ? bound : *known;
  return {};
}

bool is_known_keyword(std::string_view key) {
  constexpr std::array<std::string_view, 17> kKnown = {"not",
                                                       "if",
                                                       "then",
                                                       "else",
                                                       "contains",
                                                       "minContains",
                                                       "maxContains",
                                                       "uniqueItems",
                                                       "multipleOf",
                                                       "propertyNames",
                                                       "patternProperties",
                                                       "dependencies",
                                                       "dependentSchemas",
                                                       "dependentRequired",
                                                       "unevaluatedProperties",
                                                       "unevaluatedItems",
                                                       "$dynamicRef"};
  return std::ranges::find(kKnown, key) != kKnown.end();
}

std::string unescaped_key(std::string_view part) {
  std::string bytes;
  for (size_t i = 0; i < part.size(); ++i) {
    uint8_t byte = 0;
    const char* digits = part.data() + i + 1;
    if (part[i] == '%' && i + 2 < part.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      bytes.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      bytes.push_back(part[i]);
    }
  }
  std::string key;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool is_escape =
        bytes[i] == '~' && i + 1 < bytes.size() && (bytes[i + 1] == '0' || bytes[i + 1] == '1');
    key.push_back(!is_escape ? bytes[i] : bytes[i + 1] == '0' ? '~' : '/');
    i += is_escape ? 1 : 0;
  }
  return key;
}

std::optional<size_t> list_index(std::string_view part) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  return is_ascii_digits(part) && error == std::errc() && end == part.data() + part.size()
             ? std::optional(index)
             : std::nullopt;
}

}  // namespace mynah::grammar
