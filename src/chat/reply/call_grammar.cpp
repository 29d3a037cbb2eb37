#include "chat/reply/call_grammar.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chat/reply/tool_schemas.h"
#include "formats/json.h"

namespace mynah {
namespace {

using Kind = CallGrammar::Kind;
// Parameters in the order of their schema.
using OrderedJson = nlohmann::ordered_json;

// The grammar of optional parameters grows with the square of their number.
constexpr size_t kMostParameters = 64;
// Gemma's strings stand between tokens inside of lists and objects too, so that those are described
// part by part.
constexpr int kMostGemmaDepth = 8;

CallGrammar literal(std::string text) {
  return {.kind = Kind::Literal, .text = std::move(text), .parts = {}};
}

CallGrammar sequence(std::vector<CallGrammar> parts) {
  return {.kind = Kind::Sequence, .text = {}, .parts = std::move(parts)};
}

CallGrammar json_of(const OrderedJson& schema) {
  return {.kind = Kind::Json, .text = schema.dump(), .parts = {}};
}

CallGrammar wrapped(Kind kind, CallGrammar part) {
  CallGrammar grammar{.kind = kind, .text = {}, .parts = {}};
  grammar.parts.push_back(std::move(part));
  return grammar;
}

// Text, then what ends it.
CallGrammar text_before(const std::string& end) {
  return sequence({{.kind = Kind::Until, .text = end, .parts = {}}, literal(end)});
}

struct Parameter {
  CallGrammar grammar;
  bool required = false;
};

// The required parameters, then any of the others, in their order.
CallGrammar parameter_list(std::vector<Parameter> parameters, const std::string& between) {
  std::ranges::stable_partition(parameters, &Parameter::required);
  const auto from = [&](size_t first) {
    CallGrammar all = sequence({parameters[first].grammar});
    for (size_t i = first + 1; i < parameters.size(); ++i) {
      const CallGrammar next = sequence({literal(between), parameters[i].grammar});
      all.parts.push_back(parameters[i].required ? next : wrapped(Kind::Optional, next));
    }
    return all;
  };
  if (parameters.empty()) {
    return literal("");
  }
  if (parameters.front().required) {
    return from(0);
  }
  CallGrammar begins{.kind = Kind::Choice, .text = {}, .parts = {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    begins.parts.push_back(from(i));
  }
  return wrapped(Kind::Optional, std::move(begins));
}

struct ToolDescription {
  std::string name;
  OrderedJson schema;
  std::vector<std::pair<std::string, OrderedJson>> parameters;
  std::vector<std::string> required;

  [[nodiscard]] bool requires_parameter(const std::string& parameter) const {
    return std::ranges::find(required, parameter) != required.end();
  }
};

Result<ToolDescription> describe(const ReplyTool& tool) {
  if (tool.name.empty()) {
    return fail(ErrorCode::InvalidInput, "a tool has no name: give each tool one");
  }
  // parse_json bounds the depth and refuses what is said twice; the order is kept by the second.
  MYNAH_TRY(const nlohmann::json checked,
            parse_json(tool.parameters.empty() ? "{}" : tool.parameters,
                       fmt::format("parameters of tool {}", tool.name)));
  if (!checked.is_object()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("parameters of tool {}: wanted the JSON schema of an object, found {}",
                            tool.name, checked.type_name()));
  }
  ToolDescription description{.name = tool.name, .schema = {}, .parameters = {}, .required = {}};
  description.schema = OrderedJson::parse(tool.parameters.empty() ? "{}" : tool.parameters);
  OrderedJson& schema = description.schema;
  if (!schema.contains("type")) {
    schema["type"] = "object";
  }
  if (const auto properties = schema.find("properties");
      properties != schema.end() && properties->is_object()) {
    for (const auto& [name, property] : properties->items()) {
      description.parameters.emplace_back(name, property);
    }
  }
  if (const auto required = schema.find("required");
      required != schema.end() && required->is_array()) {
    for (const OrderedJson& name : *required) {
      if (name.is_string()) {
        description.required.push_back(name.get<std::string>());
      }
    }
  }
  if (description.parameters.size() > kMostParameters) {
    return fail(ErrorCode::Unsupported,
                fmt::format("tool {} has {} parameters: at most {} can be kept to", tool.name,
                            description.parameters.size(), kMostParameters));
  }
  return description;
}

// The format's text for a call, with the number, the name and the arguments in their places.
CallGrammar filled_call(const CallFormat& format, const ToolDescription& tool) {
  const bool in_json = format.shape != CallShape::Named && format.shape != CallShape::Harmony;
  CallGrammar call = sequence({});
  std::string text;
  const auto end_text = [&] { call.parts.push_back(literal(std::exchange(text, {}))); };
  const std::string& written = format.written_call;
  for (size_t at = 0; at < written.size(); ++at) {
    const std::string_view here = std::string_view(written).substr(at, 2);
    if (here == "%n") {
      text += in_json ? json_escaped(tool.name) : tool.name;
    } else if (here == "%i") {
      end_text();
      call.parts.push_back(json_of({{"type", "integer"}, {"minimum", 0}}));
    } else if (here == "%a") {
      end_text();
      call.parts.push_back(json_of(tool.schema));
    } else {
      text += written[at];
      continue;
    }
    ++at;
  }
  end_text();
  return call;
}

CallGrammar tagged_call(const CallFormat& format, const ToolDescription& tool,
                        const ToolSchemas& schemas) {
  const std::string& gap = format.written_call;
  std::vector<Parameter> parameters;
  for (const auto& [name, schema] : tool.parameters) {
    const bool is_text = schemas.is_text(tool.name, name);
    // DeepSeek V3.2's tag says whether a string stands in it.
    const bool says_type = format.parameter_begin.contains("DSML");
    std::string begin = format.parameter_begin + name;
    begin += says_type ? (is_text ? "\" string=\"true\">" : "\" string=\"false\">")
                       : format.parameter_name_end;
    begin += format.value_begin;
    // Only where the function's own tag ends with > do values stand on lines of their own.
    const std::string inner = format.name_end == ">" ? gap : std::string();
    begin += inner;
    std::string end = inner + format.parameter_end;
    CallGrammar value = is_text ? text_before(end) : sequence({json_of(schema), literal(end)});
    parameters.push_back(
        {.grammar = sequence({literal(std::move(begin)), std::move(value), literal(gap)}),
         .required = tool.requires_parameter(name)});
  }
  std::string begin = format.function_begin.empty() ? std::string() : gap + format.function_begin;
  begin += tool.name + format.name_end + gap;
  return sequence({literal(std::move(begin)), parameter_list(std::move(parameters), ""),
                   literal(format.function_end + gap)});
}

CallGrammar python_call(const ToolDescription& tool) {
  std::vector<Parameter> parameters;
  parameters.reserve(tool.parameters.size());
  for (const auto& [name, schema] : tool.parameters) {
    parameters.push_back({.grammar = sequence({literal(name + "="), json_of(schema)}),
                          .required = tool.requires_parameter(name)});
  }
  return sequence(
      {literal(tool.name + "("), parameter_list(std::move(parameters), ", "), literal(")")});
}

class GemmaWriter {
 public:
  GemmaWriter(const ToolDescription& tool, std::string quote)
      : tool_(tool), quote_(std::move(quote)) {}

  [[nodiscard]] Result<CallGrammar> call() const {
    MYNAH_TRY(CallGrammar arguments, object(tool_.schema, 0));
    return sequence({literal("call:" + tool_.name), std::move(arguments)});
  }

 private:
  [[nodiscard]] Result<CallGrammar> object(const OrderedJson& schema, int depth) const {
    std::vector<Parameter> parameters;
    const OrderedJson properties = schema.value("properties", OrderedJson::object());
    const OrderedJson required = schema.value("required", OrderedJson::array());
    if (!properties.is_object() || properties.size() > kMostParameters) {
      return unsupported();
    }
    for (const auto& [name, property] : properties.items()) {
      MYNAH_TRY(CallGrammar inner, value(property, depth + 1));
      const bool needed = std::ranges::find(required, OrderedJson(name)) != required.end();
      parameters.push_back(
          {.grammar = sequence({literal(name + ":"), std::move(inner)}), .required = needed});
    }
    return sequence({literal("{"), parameter_list(std::move(parameters), ","), literal("}")});
  }

  [[nodiscard]] Result<CallGrammar> value(const OrderedJson& schema, int depth) const {
    const OrderedJson type = schema.is_object() ? schema.value("type", OrderedJson()) : schema;
    if (!type.is_string() || depth > kMostGemmaDepth) {
      return unsupported();
    }
    const auto& name = type.get_ref<const std::string&>();
    if (name == "string") {
      return string(schema);
    }
    if (name == "object") {
      return object(schema, depth);
    }
    if (name != "array") {
      return json_of(schema);
    }
    if (!schema.contains("items")) {
      return unsupported();
    }
    MYNAH_TRY(CallGrammar item, value(schema["items"], depth + 1));
    CallGrammar more = wrapped(Kind::Repeat, sequence({literal(","), item}));
    return sequence({literal("["),
                     wrapped(Kind::Optional, sequence({std::move(item), std::move(more)})),
                     literal("]")});
  }

  [[nodiscard]] CallGrammar string(const OrderedJson& schema) const {
    if (!schema.contains("enum") || !schema["enum"].is_array()) {
      return sequence({literal(quote_), text_before(quote_)});
    }
    CallGrammar choice{.kind = Kind::Choice, .text = {}, .parts = {}};
    for (const OrderedJson& one : schema["enum"]) {
      if (one.is_string()) {
        choice.parts.push_back(literal(quote_ + one.get<std::string>() + quote_));
      }
    }
    return choice;
  }

  [[nodiscard]] std::unexpected<Error> unsupported() const {
    return fail(ErrorCode::Unsupported,
                fmt::format("tool {}: Gemma's calls are kept to a schema only where each parameter "
                            "has one type, and each list one of its items",
                            tool_.name));
  }

  const ToolDescription& tool_;
  std::string quote_;
};

Result<CallGrammar> call_of(const CallFormat& format, const ToolDescription& tool,
                            const ToolSchemas& schemas) {
  switch (format.shape) {
    case CallShape::Tagged:
      return tagged_call(format, tool, schemas);
    case CallShape::Python:
      return python_call(tool);
    case CallShape::Gemma:
      return GemmaWriter(tool, format.separator.front()).call();
    default:
      return filled_call(format, tool);
  }
}

// The first of some markers: the one that templates write.
std::string first_of(const std::vector<std::string>& markers) {
  return markers.empty() ? std::string() : markers.front();
}

std::vector<std::string> begins_of(const CallFormat& format) {
  if (format.shape == CallShape::Harmony) {
    return {"<|channel|>commentary to=functions."};
  }
  std::vector<std::string> begins = {
      first_of(format.section_begin.empty() ? format.begin : format.section_begin)};
  if (format.shape == CallShape::Llama) {
    begins.emplace_back();
  }
  return begins;
}

}  // namespace

Result<CallConstraint> call_constraint(const CallFormat& format,
                                       const std::vector<ReplyTool>& tools, bool several) {
  if (tools.empty()) {
    return fail(ErrorCode::InvalidInput, "calls of no tools cannot be wanted: give tools");
  }
  const ToolSchemas schemas(tools);
  CallGrammar call{.kind = Kind::Choice, .text = {}, .parts = {}};
  for (const ReplyTool& tool : tools) {
    MYNAH_TRY(const ToolDescription description, describe(tool));
    MYNAH_TRY(CallGrammar one, call_of(format, description, schemas));
    call.parts.push_back(std::move(one));
  }
  // In a list the marker stands around all calls, else around each.
  const bool is_list = !format.written_close.empty();
  const bool in_section = !format.section_begin.empty();
  const std::string end = first_of(format.end);
  CallGrammar all = sequence({literal(format.written_open)});
  if (in_section) {
    all.parts.push_back(literal(first_of(format.begin)));
  }
  all.parts.push_back(call);
  if (!is_list) {
    all.parts.push_back(literal(end));
  }
  if (several && format.shape != CallShape::Harmony) {
    const bool is_bare = format.shape == CallShape::Llama;
    CallGrammar more = sequence({literal(format.written_between)});
    if (!is_list) {
      more.parts.push_back(literal(is_bare ? std::string() : first_of(format.begin)));
    }
    more.parts.push_back(std::move(call));
    if (!is_list) {
      more.parts.push_back(literal(end));
    }
    all.parts.push_back(wrapped(Kind::Repeat, std::move(more)));
  }
  all.parts.push_back(literal(format.written_close));
  if (is_list) {
    all.parts.push_back(literal(end));
  }
  if (in_section) {
    all.parts.push_back(literal(first_of(format.section_end)));
  }
  return CallConstraint{.begins = begins_of(format), .behind = std::move(all)};
}

CallGrammar calls_with_begin(const CallFormat& format, CallConstraint calls, bool behind_thought) {
  CallGrammar all = sequence({});
  if (behind_thought && format.shape == CallShape::Harmony) {
    // The thought was a message of its own.
    all.parts.push_back(wrapped(Kind::Optional, literal("<|start|>assistant")));
  } else if (behind_thought) {
    // As templates write them behind a thought.
    all.parts.push_back(
        {.kind = Kind::Choice, .text = {}, .parts = {literal(""), literal("\n"), literal("\n\n")}});
  }
  // Llama's first one is that of code.
  all.parts.push_back(literal(calls.begins.back()));
  all.parts.push_back(std::move(calls.behind));
  return all;
}

}  // namespace mynah
