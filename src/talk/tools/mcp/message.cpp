#include "talk/tools/mcp/message.h"

#include <utility>

#include <fmt/format.h>

#include "formats/json.h"

namespace mynah::talk {

namespace {

constexpr std::string_view kOfServer = "the server's message";

std::unexpected<Error> no_message(std::string_view what) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", kOfServer, what));
}

Result<McpMessage> read_one(ToolJson& json) {
  if (!json.is_object() || mcp_text(json, "jsonrpc") != "2.0") {
    return no_message("wanted an object of JSON-RPC 2.0");
  }
  McpMessage message;
  if (const auto id = json.find("id"); id != json.end() && !id->is_null()) {
    if (!id->is_string() && !id->is_number_integer()) {
      return no_message("wanted an id that is a text or a whole number");
    }
    message.id = *id;
  }
  if (const auto method = json.find("method"); method != json.end()) {
    if (!method->is_string() || method->get_ref<const std::string&>().empty()) {
      return no_message("wanted a method that is a text");
    }
    message.method = method->get<std::string>();
    if (const auto params = json.find("params"); params != json.end()) {
      message.params = std::move(*params);
    }
    return message;
  }
  if (const auto error = json.find("error"); error != json.end()) {
    const auto code = error->is_object() ? error->find("code") : error->end();
    message.error =
        McpError{.code = error->is_object() && code != error->end() && code->is_number_integer()
                             ? code->get<int64_t>()
                             : 0,
                 .message = mcp_text(*error, "message")};
    return message;
  }
  const auto result = json.find("result");
  if (result == json.end() || message.id.is_null()) {
    return no_message("it is no request, no notification and no answer");
  }
  message.result = std::move(*result);
  return message;
}

std::string written(const ToolJson& message) {
  return message.dump(-1, ' ', false, ToolJson::error_handler_t::replace);
}

ToolJson with_params(ToolJson message, ToolJson params) {
  if (!params.is_null()) {
    message["params"] = std::move(params);
  }
  return message;
}

}  // namespace

Result<std::vector<McpMessage>> read_mcp_messages(std::string_view text) {
  constexpr size_t kMostOfBatch = 1000;
  MYNAH_TRY(ToolJson json, parse_ordered_json(text, kOfServer));
  std::vector<McpMessage> messages;
  if (!json.is_array()) {
    MYNAH_TRY(McpMessage message, read_one(json));
    messages.push_back(std::move(message));
    return messages;
  }
  if (json.empty() || json.size() > kMostOfBatch) {
    return no_message(fmt::format("wanted a batch of 1 to {} messages", kMostOfBatch));
  }
  for (ToolJson& one : json) {
    MYNAH_TRY(McpMessage message, read_one(one));
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string mcp_request(int64_t id, std::string_view method, ToolJson params) {
  return written(
      with_params({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}}, std::move(params)));
}

std::string mcp_notification(std::string_view method, ToolJson params) {
  return written(with_params({{"jsonrpc", "2.0"}, {"method", method}}, std::move(params)));
}

std::string mcp_answer(const ToolJson& id, ToolJson result) {
  ToolJson message = {{"jsonrpc", "2.0"}, {"id", id}};
  message["result"] = std::move(result);
  return written(message);
}

std::string mcp_refusal(const ToolJson& id, int code, std::string_view message) {
  return written({{"jsonrpc", "2.0"},
                  {"id", id},
                  {"error", {{"code", code}, {"message", std::string(message)}}}});
}

std::string mcp_text(const ToolJson& object, std::string_view name) {
  if (!object.is_object()) {
    return {};
  }
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace mynah::talk
