// What is written by the description of a format's calls is read as those calls.
#include "chat/reply/call_grammar.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chat/reply_cases.h"

namespace mynah {
namespace {

const std::vector<ReplyTool> kTools = {
    {.name = "get_weather", .parameters = R"({"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"},
        "unit": {"enum": ["celsius", "kelvin"], "type": "string"}},
        "required": ["city"]})"},
    {.name = "note", .parameters = R"({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}})"},
    {.name = "stop", .parameters = R"({"type": "object", "properties": {}})"}};

using Random = std::mt19937_64;

nlohmann::json random_value(const nlohmann::json& schema, Random& random) {
  if (schema.contains("enum")) {
    return schema["enum"][random() % schema["enum"].size()];
  }
  const std::string type = schema["type"];
  if (type == "string") {
    return random() % 2 == 0 ? "Z\u00FCrich, \"old\" town" : "two\nlines";
  }
  if (type == "boolean") {
    return random() % 2 == 0;
  }
  if (type == "array") {
    return nlohmann::json::array({random_value(schema["items"], random)});
  }
  if (type != "object") {
    return random() % 100;
  }
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, property] : schema["properties"].items()) {
    if (schema.value("required", nlohmann::json::array()).contains(name) || random() % 2 == 0) {
      object[name] = random_value(property, random);
    }
  }
  return object;
}

std::string random_text(const CallGrammar& grammar, Random& random) {
  std::string text;
  switch (grammar.kind) {
    case CallGrammar::Kind::Literal:
      return grammar.text;
    case CallGrammar::Kind::Json:
      return random_value(nlohmann::json::parse(grammar.text), random).dump();
    case CallGrammar::Kind::Until:
      return random() % 2 == 0 ? "a <b> \"c\"" : "Z\u00FCrich";
    case CallGrammar::Kind::Choice:
      return random_text(grammar.parts[random() % grammar.parts.size()], random);
    case CallGrammar::Kind::Optional:
      return random() % 2 == 0 ? random_text(grammar.parts[0], random) : "";
    case CallGrammar::Kind::Repeat:
      for (size_t i = random() % 3; i > 0; --i) {
        text += random_text(grammar.parts[0], random);
      }
      return text;
    case CallGrammar::Kind::Sequence:
      for (const CallGrammar& part : grammar.parts) {
        text += random_text(part, random);
      }
      return text;
  }
  return text;
}

void expect_of_schema(const nlohmann::json& value, const nlohmann::json& schema) {
  const std::string type = schema["type"];
  EXPECT_EQ(value.is_string(), type == "string") << value;
  EXPECT_EQ(value.is_number(), type == "integer" || type == "number") << value;
  EXPECT_EQ(value.is_boolean(), type == "boolean") << value;
  EXPECT_EQ(value.is_array(), type == "array") << value;
  ASSERT_EQ(value.is_object(), type == "object") << value;
  if (value.is_object()) {
    for (const auto& [name, property] : value.items()) {
      ASSERT_TRUE(schema["properties"].contains(name)) << name;
      expect_of_schema(property, schema["properties"][name]);
    }
  }
}

TEST(CallGrammar, WritesWhatTheParserReads) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (const CallFormat& calls : call_formats()) {
    for (const bool several : {false, true}) {
      const auto constraint = call_constraint(calls, kTools, several);
      ASSERT_TRUE(constraint) << calls.name << ": " << constraint.error().message;
      ReplyOptions options;
      options.tools = kTools;
      size_t most = 0;
      for (int i = 0; i < 40; ++i) {
        const std::string text = constraint->begins[random() % constraint->begins.size()] +
                                 random_text(constraint->behind, random);
        const ReplyMessage message =
            test::parse(reply_format(calls.name, "think"), options, {{text, false}});
        ASSERT_EQ(message.content, "") << calls.name << ": " << text;
        ASSERT_FALSE(message.calls.empty()) << calls.name << ": " << text;
        most = std::max(most, message.calls.size());
        for (const ToolCall& call : message.calls) {
          ASSERT_TRUE(call.valid) << calls.name << ": " << text << "\n" << call.arguments;
          const auto tool = std::ranges::find(kTools, call.name, &ReplyTool::name);
          ASSERT_NE(tool, kTools.end()) << calls.name << ": " << text;
          expect_of_schema(nlohmann::json::parse(call.arguments),
                           nlohmann::json::parse(tool->parameters));
        }
      }
      EXPECT_EQ(most > 1, several && calls.shape != CallShape::Harmony) << calls.name;
    }
  }
}

TEST(CallGrammar, RefusesWhatCannotBeKeptTo) {
  const CallFormat hermes = reply_format("hermes", "think").calls;
  EXPECT_EQ(call_constraint(hermes, {}, false).error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(call_constraint(hermes, {{.name = "", .parameters = "{}"}}, false).error().code,
            ErrorCode::InvalidInput);
  EXPECT_EQ(call_constraint(hermes, {{.name = "f", .parameters = "[1]"}}, false).error().message,
            "parameters of tool f: wanted the JSON schema of an object, found array");
  EXPECT_FALSE(call_constraint(hermes, {{.name = "f", .parameters = "{"}}, false));
  EXPECT_EQ(
      call_constraint(
          reply_format("gemma4", "gemma4").calls,
          {{.name = "f", .parameters = R"({"properties": {"a": {"anyOf": [{}, {}]}}})"}}, false)
          .error()
          .code,
      ErrorCode::Unsupported);
}

}  // namespace
}  // namespace mynah
