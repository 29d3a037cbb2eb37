// What a reply has to keep to: a form of its text, tools that must be called.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"
#include "text/grammar/constraint_source.h"

namespace mynah::server {

// What a reply's content is, by the constraint that it was written by.
enum class ContentIs : uint8_t {
  Text,
  CallOrAnswer,  // of a tool, as an object: {"name": "f", "arguments": {...}}; or what the answer
                 // was to keep to
};

struct AnswerRules {
  std::optional<grammar::ConstraintSource> constraint;
  std::optional<std::string> must_call;  // ChatRequest::must_call
  ContentIs content = ContentIs::Text;
  std::vector<std::string> callable;  // tools' names; where the content may be a call
};

// Which tools a reply calls.
struct ToolChoice {
  enum class Kind : uint8_t { None, Auto, Required };

  Kind kind = Kind::Auto;
  std::string name;  // of the one that is required; "": any
};

// tool_choice as OpenAI's API has it: "none", "auto", "required", or an object with a function's
// name. Null: auto.
[[nodiscard]] std::expected<ToolChoice, FieldError> read_tool_choice(
    const nlohmann::ordered_json* choice);

// A list of functions as OpenAI's API has it.
[[nodiscard]] std::expected<nlohmann::ordered_json, FieldError> read_tools(
    const nlohmann::ordered_json* tools);

// response_format as OpenAI's API has it, and llama.cpp's "schema" beside the type json_object.
// None: text.
[[nodiscard]] std::expected<std::optional<grammar::ConstraintSource>, FieldError>
read_response_format(const nlohmann::ordered_json* format);

// A schema that an answer keeps to.
[[nodiscard]] grammar::ConstraintSource schema_source(const nlohmann::ordered_json& schema,
                                                      bool strict = false);

// The rules of a reply that may call `tools` and whose answer keeps to `answer`: a call that may
// come in place of an answer that is bound is written as an object, which every family's model can;
// where one must come there is no answer. Unsupported where one rule leaves no way for the other;
// InvalidInput for a tool that is not among them.
[[nodiscard]] std::expected<AnswerRules, FieldError> answer_rules(
    const nlohmann::ordered_json& tools, const ToolChoice& choice,
    std::optional<grammar::ConstraintSource> answer);

}  // namespace mynah::server
