#include "server/chat/answer_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/http/fields.h"
#include "server/http/json_members.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// More than a schema of one of them may choose from, and than any model's context tells of.
constexpr size_t kMostTools = 1000;

std::unexpected<FieldError> unsupported(std::string_view field, std::string message) {
  return std::unexpected(FieldError{.field = std::string(field),
                                    .error = {ErrorCode::Unsupported, std::move(message)}});
}

// Has a schema's references lead to where it stands now.
void move_references(Json& schema, const std::string& root) {
  if (schema.is_object()) {
    const auto reference = schema.find("$ref");
    if (reference != schema.end() && reference->is_string() &&
        reference->get_ref<const std::string&>().starts_with('#')) {
      *reference = root + reference->get_ref<const std::string&>().substr(1);
    }
  }
  if (schema.is_structured()) {
    for (Json& part : schema) {
      move_references(part, root);
    }
  }
}

// Schemas of which one is kept to, each with references of its own.
class OneOfSchemas {
 public:
  void add(Json schema) { choices_.push_back(put(std::move(schema))); }

  void add_call(const std::string& name, Json arguments) {
    choices_.push_back(
        {{"type", "object"},
         {"properties", {{"name", {{"const", name}}}, {"arguments", put(std::move(arguments))}}},
         {"required", {"name", "arguments"}},
         {"additionalProperties", false}});
  }

  [[nodiscard]] Json whole() && {
    return {{"anyOf", std::move(choices_)}, {"$defs", std::move(definitions_)}};
  }

 private:
  // Where it stands now.
  Json put(Json schema) {
    const std::string name = fmt::format("s{}", definitions_.size());
    const std::string root = "#/$defs/" + name;
    move_references(schema, root);
    definitions_[name] = std::move(schema);
    return {{"$ref", root}};
  }

  Json choices_ = Json::array();
  Json definitions_ = Json::object();
};

const Json& function_of(const Json& tool) {
  return tool["function"];
}

std::string tool_name(const Json& tool) {
  return function_of(tool)["name"].get<std::string>();
}

Json parameters_of(const Json& tool) {
  const auto found = function_of(tool).find("parameters");
  return found == function_of(tool).end() || found->is_null() ? Json{{"type", "object"}} : *found;
}

Json schema_of(const grammar::ConstraintSource& answer) {
  return answer.kind == grammar::ConstraintSource::Kind::JsonObject ? Json{{"type", "object"}}
                                                                    : Json::parse(answer.text);
}

// Whether the model may write what fits a bound answer, or else call a tool.
bool joins(const grammar::ConstraintSource& answer) {
  return answer.kind == grammar::ConstraintSource::Kind::JsonObject ||
         answer.kind == grammar::ConstraintSource::Kind::JsonSchema;
}

}  // namespace

std::expected<ToolChoice, FieldError> read_tool_choice(const Json* choice) {
  constexpr const char* kField = "tool_choice";
  if (choice == nullptr || *choice == "auto") {
    return ToolChoice{};
  }
  if (*choice == "none") {
    return ToolChoice{.kind = ToolChoice::Kind::None, .name = {}};
  }
  if (*choice == "required" || *choice == "any") {
    return ToolChoice{.kind = ToolChoice::Kind::Required, .name = {}};
  }
  const Json* named = choice->is_object() ? choice : nullptr;
  if (named != nullptr && named->contains("function") && (*named)["function"].is_object()) {
    named = &(*named)["function"];
  }
  if (named == nullptr || !named->contains("name") || !(*named)["name"].is_string()) {
    return wrong_field(kField,
                       fmt::format("tool_choice: wanted none, auto, required or "
                                   "{{\"type\": \"function\", \"function\": {{\"name\": ...}}}}, "
                                   "found {}",
                                   shortened(*choice)));
  }
  return ToolChoice{.kind = ToolChoice::Kind::Required, .name = (*named)["name"]};
}

std::expected<Json, FieldError> read_tools(const Json* tools) {
  if (tools == nullptr) {
    return Json::array();
  }
  if (!tools->is_array()) {
    return wrong_field("tools", fmt::format("tools: wanted a list, found {}", shortened(*tools)));
  }
  if (tools->size() > kMostTools) {
    return wrong_field(
        "tools", fmt::format("tools: wanted at most {}, found {}", kMostTools, tools->size()));
  }
  for (size_t i = 0; i < tools->size(); ++i) {
    const Json& tool = (*tools)[i];
    const bool has_name = tool.is_object() && tool.contains("function") &&
                          function_of(tool).is_object() && function_of(tool).contains("name") &&
                          function_of(tool)["name"].is_string();
    if (!has_name) {
      return wrong_field("tools", fmt::format("tools[{}]: wanted {{\"type\": \"function\", "
                                              "\"function\": {{\"name\": ...}}}}, found {}",
                                              i, shortened(tool)));
    }
    const Json parameters = parameters_of(tool);
    if (!parameters.is_object()) {
      return wrong_field("tools", fmt::format("tools[{}].function.parameters: wanted a JSON "
                                              "schema, found {}",
                                              i, shortened(parameters)));
    }
  }
  return *tools;
}

grammar::ConstraintSource schema_source(const Json& schema, bool strict) {
  return {.kind = grammar::ConstraintSource::Kind::JsonSchema,
          .text = json_text(schema),
          .choices = {},
          .schema = {.strict = strict}};
}

std::expected<std::optional<grammar::ConstraintSource>, FieldError> read_response_format(
    const Json* format) {
  constexpr const char* kField = "response_format";
  if (format == nullptr) {
    return std::nullopt;
  }
  if (!format->is_object()) {
    return wrong_field(kField, fmt::format("response_format: wanted an object with a type, found "
                                           "{}",
                                           shortened(*format)));
  }
  const Members members(*format, "response_format.");
  MYNAH_TRY(const std::string type, members.text("type"));
  if (type == "text") {
    return std::nullopt;
  }
  if (type == "json_object") {
    MYNAH_TRY(const Json* const schema, members.object("schema"));
    return schema == nullptr ? grammar::ConstraintSource{} : schema_source(*schema);
  }
  if (type != "json_schema") {
    return wrong_field(kField, fmt::format("response_format.type: wanted text, json_object or "
                                           "json_schema, found {}",
                                           shortened(type)));
  }
  MYNAH_TRY(const Json* const named, members.object("json_schema"));
  const Members within(named == nullptr ? *format : *named,
                       named == nullptr ? "response_format." : "response_format.json_schema.");
  MYNAH_TRY(const Json* const schema, within.object("schema"));
  if (schema == nullptr) {
    return wrong_field(kField, fmt::format("{}: wanted a JSON schema", within.called("schema")));
  }
  MYNAH_TRY(const bool strict, within.flag("strict", false));
  return schema_source(*schema, strict);
}

std::expected<AnswerRules, FieldError> answer_rules(
    const Json& tools, const ToolChoice& choice, std::optional<grammar::ConstraintSource> answer) {
  using Kind = ToolChoice::Kind;
  AnswerRules rules;
  const bool may_call = choice.kind != Kind::None && !tools.empty();
  if (choice.kind == Kind::Required) {
    const auto is_wanted = [&choice](const Json& tool) {
      return choice.name.empty() || tool_name(tool) == choice.name;
    };
    if (std::ranges::none_of(tools, is_wanted)) {
      return wrong_field(
          "tool_choice",
          choice.name.empty()
              ? std::string("tool_choice: wanted tools to call, found none")
              : fmt::format("tool_choice: no tool is called {}", shortened(choice.name)));
    }
    rules.must_call = choice.name;
    return rules;
  }
  if (!may_call || !answer) {
    rules.constraint = std::move(answer);
    return rules;
  }
  if (!joins(*answer)) {
    return unsupported("tools",
                       "tools: an answer that keeps to a grammar cannot call tools as well; "
                       "wanted one of them, or a JSON schema in place of the grammar");
  }
  OneOfSchemas choices;
  for (const Json& tool : tools) {
    rules.callable.push_back(tool_name(tool));
    choices.add_call(rules.callable.back(), parameters_of(tool));
  }
  choices.add(schema_of(*answer));
  rules.content = ContentIs::CallOrAnswer;
  rules.constraint = schema_source(std::move(choices).whole());
  return rules;
}

}  // namespace mynah::server
