#include "server/realtime/reply_wish.h"

#include <algorithm>
#include <array>
#include <utility>

#include "server/chat/responses_request.h"
#include "server/http/fields.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

bool is_function(const Json& tool) {
  return !tool.is_object() || !tool.contains("type") || tool["type"] == "function";
}

// Servers of tools are not here.
Json functions_of(const Json& tools) {
  if (!tools.is_array()) {
    return tools;
  }
  Json functions = Json::array();
  std::ranges::copy_if(tools, std::back_inserter(functions), is_function);
  return functions;
}

bool names_foreign_tool(const Json& choice) {
  return choice.is_object() && !is_function(choice);
}

}  // namespace

size_t foreign_tools(const Json& fields) {
  const auto tools = fields.find("tools");
  return tools == fields.end() || !tools->is_array()
             ? 0
             : static_cast<size_t>(std::ranges::count_if(
                   *tools, [](const Json& one) { return !is_function(one); }));
}

std::expected<CompletionRequest, FieldError> written_wish(const Json& fields,
                                                          const std::string& within) {
  // What the Responses API has by the same names, with a message that stands for those to come.
  Json asked = {{"input", "-"}, {"truncation", "auto"}};
  for (const char* const name : {"parallel_tool_calls", "reasoning", "temperature"}) {
    if (fields.contains(name)) {
      asked[name] = fields[name];
    }
  }
  if (fields.contains("tools")) {
    asked["tools"] = functions_of(fields["tools"]);
  }
  if (fields.contains("tool_choice") && !names_foreign_tool(fields["tool_choice"])) {
    asked["tool_choice"] = fields["tool_choice"];
  }
  // A session of Realtime may grow as it likes; an object says how much is left out then.
  if (fields.contains("truncation") && fields["truncation"] == "disabled") {
    asked["truncation"] = "disabled";
  }
  if (fields.contains("max_output_tokens") && fields["max_output_tokens"] != "inf") {
    asked["max_output_tokens"] = fields["max_output_tokens"];
  }
  const std::string text = json_text(asked);
  auto request = parse_responses(SentJson(text));
  if (!request) {
    FieldError error = std::move(request).error();
    error.field = within + error.field;
    error.error.message = within + error.error.message;
    return std::unexpected(std::move(error));
  }
  return std::move(request->completion);
}

}  // namespace mynah::server
