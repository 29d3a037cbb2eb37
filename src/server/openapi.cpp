#include "server/openapi.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "engine/version.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kJsonType = "application/json";

Json schema_of(const Field& field) {
  Json schema;
  switch (field.type) {
    case FieldType::Text:
      schema = {{"type", "string"}};
      break;
    case FieldType::Number:
      schema = {{"type", "number"}, {"minimum", field.least}, {"maximum", field.most}};
      break;
    case FieldType::Whole:
      schema = {{"type", "integer"},
                {"minimum", static_cast<int64_t>(field.least)},
                {"maximum", static_cast<int64_t>(field.most)}};
      break;
    case FieldType::Flag:
      schema = {{"type", "boolean"}};
      break;
    case FieldType::Texts:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case FieldType::Voice:
      schema = {{"anyOf",
                 {{{"type", "string"}},
                  {{"type", "object"},
                   {"properties", {{"id", {{"type", "string"}}}}},
                   {"required", {"id"}}}}}};
      break;
    case FieldType::Any:
      schema = Json::object();
      break;
    case FieldType::File:
      schema = {{"type", "string"}, {"format", "binary"}};
      break;
  }
  if (!field.choices.empty()) {
    schema["enum"] = choices_of(field);
  }
  if (field.wanted && field.type == FieldType::Text) {
    schema["minLength"] = 1;
  }
  schema["description"] = field.help;
  return schema;
}

// The same where null, or a text of none, stands for nothing, as in JSON.
Json or_null(Json schema) {
  if (schema.contains("anyOf")) {
    schema["anyOf"].push_back({{"type", "null"}});
  } else if (schema.contains("type")) {
    schema["type"] = {schema["type"], "null"};
  }
  if (schema.contains("enum")) {
    schema["enum"].push_back("");
    schema["enum"].push_back(nullptr);
  }
  return schema;
}

// Of a request's body; null: there is none.
Json body_of(const Route& route) {
  if (route.accepts == Accepts::Nothing) {
    return {};
  }
  if (!route.takes.empty()) {
    const Json bytes = {{"type", "string"}, {"format", "binary"}};
    return {{"required", true}, {"content", {{std::string(route.takes), {{"schema", bytes}}}}}};
  }
  Json properties = Json::object();
  Json wanted = Json::array();
  for (const Field& field : route.fields) {
    if (route.in_query && field.type != FieldType::File) {
      continue;
    }
    const bool json = route.accepts == Accepts::Text;
    properties[std::string(field.name)] =
        json && !field.wanted ? or_null(schema_of(field)) : schema_of(field);
    if (field.wanted) {
      wanted.push_back(field.name);
    }
  }
  if (route.wants_model() && !route.in_query) {
    properties[std::string(kKeepAlive.name)] = schema_of(kKeepAlive);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!wanted.empty()) {
    schema["required"] = std::move(wanted);
  }
  const char* const type = route.accepts == Accepts::Form ? "multipart/form-data" : kJsonType;
  // What has no table is read by its handler, to which no body says the same as an empty one.
  return {{"required", !route.fields.empty()},
          {"content", {{type, {{"schema", std::move(schema)}}}}}};
}

// What its path takes, and its query.
Json parameters_of(const Route& route) {
  Json parameters = Json::array();
  const size_t brace = route.path.find('{');
  if (brace != std::string::npos) {
    parameters.push_back({{"name", route.path.substr(brace + 1, route.path.find('}') - brace - 1)},
                          {"in", "path"},
                          {"required", true},
                          {"schema", {{"type", "string"}, {"minLength", 1}}}});
  }
  const auto add = [&parameters](const Field& field) {
    parameters.push_back({{"name", field.name},
                          {"in", "query"},
                          {"required", field.wanted},
                          {"schema", schema_of(field)}});
  };
  for (const Field& field : route.fields) {
    if (route.in_query && field.type != FieldType::File) {
      add(field);
    }
  }
  std::ranges::for_each(route.query, add);
  if (route.wants_model()) {
    if (route.in_query) {
      add(kKeepAlive);
    }
    parameters.push_back({{"name", kKeepAliveHeader},
                          {"in", "header"},
                          {"required", false},
                          {"schema", {{"type", "string"}}},
                          {"description", kKeepAlive.help}});
  }
  return parameters;
}

// "post_v1_audio_speech".
std::string id_of(const Route& route) {
  std::string id = ascii_lower(route.method);
  for (const char c : route.path) {
    const bool word = is_ascii_alnum(static_cast<unsigned char>(c));
    if (word) {
      id += c;
    } else if (!id.ends_with('_')) {
      id += '_';
    }
  }
  return id.ends_with('_') ? id.substr(0, id.size() - 1) : id;
}

Json operation_of(const Route& route) {
  Json operation = {{"operationId", id_of(route)}, {"summary", route.help}};
  std::string rights;
  for (const auto& [name, right] : kRightNames) {
    if (route.rights.has(right)) {
      rights += fmt::format("{}{}", rights.empty() ? "" : ", ", name);
    }
  }
  if (!rights.empty()) {
    operation["description"] = "Wants a key that has the right: " + rights + ".";
  }
  if (route.open == Open::ToAll) {
    operation["security"] = Json::array();
  }
  if (Json parameters = parameters_of(route); !parameters.empty()) {
    operation["parameters"] = std::move(parameters);
  }
  if (Json body = body_of(route); !body.is_null()) {
    operation["requestBody"] = std::move(body);
  }
  Json content;
  for (const std::string_view type : split_words(route.answers)) {
    content[std::string(type)] = Json::object();
  }
  operation["responses"] = {
      {"200", {{"description", "What was asked for."}, {"content", std::move(content)}}},
      {"default",
       {{"description", "What is wrong, and what was wanted."},
        {"content", {{kJsonType, {{"schema", {{"type", "object"}}}}}}}}}};
  return operation;
}

}  // namespace

std::string openapi_document(std::span<const Route> routes) {
  Json paths;
  for (const Route& route : routes) {
    paths[route.path][ascii_lower(route.method)] = operation_of(route);
  }
  return json_text(
      {{"openapi", "3.1.0"},
       {"info",
        {{"title", "mynah"},
         {"version", engine::program_version().version},
         {"description", "A voice engine: speech to text and text to speech."}}},
       {"paths", std::move(paths)},
       {"components",
        {{"securitySchemes",
          {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}},
           {"header", {{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}}}}},
       // Where the server wants a key: one way or the other.
       {"security", Json::array({Json{{"bearer", Json::array()}}, Json{{"header", Json::array()}},
                                 Json::object()})}});
}

Route openapi_route(std::span<const Route> routes) {
  Route route{.method = "GET",
              .path = "/openapi.json",
              .help = "This description.",
              .handler = {},
              .open = Open::ToAll};
  std::vector<Route> all(routes.begin(), routes.end());
  all.push_back(route);
  route.handler = [document = openapi_document(all) + "\n"](Exchange& exchange) {
    exchange.answer({.body = document});
  };
  return route;
}

}  // namespace mynah::server
