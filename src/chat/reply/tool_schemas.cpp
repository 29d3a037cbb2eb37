#include "chat/reply/tool_schemas.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "chat/reply/reply_markers.h"
#include "formats/json.h"

namespace mynah {
namespace {

// JSON schema's types as bits; numbers of both kinds are one.
enum SchemaType : unsigned {
  kStringType = 1,
  kNumberType = 2,
  kBooleanType = 4,
  kNullType = 8,
  kObjectType = 16,
  kArrayType = 32,
  kAnyType = 63,
};

constexpr auto kTypeNames =
    std::to_array<std::pair<std::string_view, unsigned>>({{"string", kStringType},
                                                          {"number", kNumberType},
                                                          {"integer", kNumberType},
                                                          {"boolean", kBooleanType},
                                                          {"null", kNullType},
                                                          {"object", kObjectType},
                                                          {"array", kArrayType}});
constexpr int kMostSchemaDepth = 8;  // of anyOf in anyOf

unsigned type_named(const nlohmann::json& name) {
  const auto* const known = std::ranges::find_if(kTypeNames, [&](const auto& row) {
    return name.is_string() && name.get_ref<const std::string&>() == row.first;
  });
  return known == kTypeNames.end() ? kAnyType : known->second;
}

unsigned type_of_value(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::string:
      return kStringType;
    case nlohmann::json::value_t::boolean:
      return kBooleanType;
    case nlohmann::json::value_t::null:
      return kNullType;
    case nlohmann::json::value_t::object:
      return kObjectType;
    case nlohmann::json::value_t::array:
      return kArrayType;
    default:
      return kNumberType;
  }
}

unsigned types_of_schema(const nlohmann::json& schema, int depth) {
  if (!schema.is_object() || depth > kMostSchemaDepth) {
    return kAnyType;
  }
  unsigned types = 0;
  if (const auto type = schema.find("type"); type != schema.end()) {
    if (!type->is_array()) {
      return type_named(*type);
    }
    for (const nlohmann::json& one : *type) {
      types |= type_named(one);
    }
    return types == 0 ? kAnyType : types;
  }
  if (const auto value = schema.find("const"); value != schema.end()) {
    return type_of_value(*value);
  }
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
    for (const nlohmann::json& value : *values) {
      types |= type_of_value(value);
    }
  }
  for (const char* const several : {"anyOf", "oneOf"}) {
    if (const auto schemas = schema.find(several); schemas != schema.end() && schemas->is_array()) {
      for (const nlohmann::json& one : *schemas) {
        types |= types_of_schema(one, depth + 1);
      }
    }
  }
  return types == 0 ? kAnyType : types;
}

std::string_view stripped_value(std::string_view text) {
  text = without_leading_space(text);
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// Python's spelling of a value, which templates give that print a value with |string.
std::optional<std::pair<std::string, unsigned>> python_word(std::string_view text) {
  if (text == "True" || text == "False") {
    return std::pair{std::string(text == "True" ? "true" : "false"), unsigned{kBooleanType}};
  }
  if (text == "None") {
    return std::pair{std::string("null"), unsigned{kNullType}};
  }
  return std::nullopt;
}

}  // namespace

ToolSchemas::ToolSchemas(const std::vector<ReplyTool>& tools) {
  for (const ReplyTool& tool : tools) {
    auto schema = parse_json(tool.parameters, tool.name);
    tools_.push_back(
        {.name = tool.name, .schema = schema ? std::move(*schema) : nlohmann::json::object()});
  }
}

const ToolSchemas::Tool* ToolSchemas::find(std::string_view name) const {
  const auto tool = std::ranges::find(tools_, name, &Tool::name);
  return tool == tools_.end() ? nullptr : &*tool;
}

bool ToolSchemas::has(std::string_view name) const {
  return find(name) != nullptr;
}

unsigned ToolSchemas::types_of(std::string_view tool, std::string_view parameter) const {
  const Tool* const found = find(tool);
  if (found == nullptr || !found->schema.is_object()) {
    return kAnyType;
  }
  const auto properties = found->schema.find("properties");
  if (properties == found->schema.end() || !properties->is_object()) {
    return kAnyType;
  }
  const auto schema = properties->find(std::string(parameter));
  return schema == properties->end() ? unsigned{kAnyType} : types_of_schema(*schema, 0);
}

bool ToolSchemas::is_text(std::string_view tool, std::string_view parameter) const {
  return types_of(tool, parameter) == kStringType;
}

std::string ToolSchemas::value_as_json(std::string_view tool, std::string_view parameter,
                                       std::string_view text) const {
  const unsigned types = types_of(tool, parameter);
  if (types != kStringType) {
    const std::string_view bare = stripped_value(text);
    if (const auto value = parse_json(bare, "value")) {
      if ((type_of_value(*value) & types) != 0) {
        return std::string(bare);
      }
    } else if (auto word = python_word(bare); word && (word->second & types) != 0) {
      return std::move(word->first);
    }
  }
  return json_quoted(text);
}

std::string ToolSchemas::positional(std::string_view tool, size_t index) const {
  const Tool* const found = find(tool);
  if (found == nullptr || !found->schema.is_object()) {
    return {};
  }
  const auto required = found->schema.find("required");
  if (required == found->schema.end() || !required->is_array() || index >= required->size() ||
      !(*required)[index].is_string()) {
    return {};
  }
  return (*required)[index].get<std::string>();
}

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_escaped(std::string_view text) {
  const std::string quoted = json_quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace mynah
