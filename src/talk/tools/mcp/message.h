// Messages of the Model Context Protocol: JSON-RPC 2.0 as its revisions 2024-11-05, 2025-03-26 and
// 2025-06-18 have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "talk/tools/tool.h"

namespace mynah::talk {

// Of one message: a picture of some megabytes in base64 has room.
inline constexpr size_t kMostMcpMessageBytes = size_t{8} << 20;

struct McpError {
  int64_t code = 0;
  std::string message;
};

struct McpMessage {
  // A request has a method and an id, a notification a method alone, an answer an id alone.
  std::string method;
  ToolJson id;      // null: there is none
  ToolJson params;  // of requests and notifications; null: none
  ToolJson result;  // of an answer
  std::optional<McpError> error;

  [[nodiscard]] bool is_answer() const { return method.empty(); }

  [[nodiscard]] bool is_request() const { return !method.empty() && !id.is_null(); }
};

// Of one line or one event: a message, or several where it is a batch (2025-03-26), at most 1000.
// InvalidInput, with what is wrong, for anything else.
[[nodiscard]] Result<std::vector<McpMessage>> read_mcp_messages(std::string_view text);

[[nodiscard]] std::string mcp_request(int64_t id, std::string_view method, ToolJson params);
[[nodiscard]] std::string mcp_notification(std::string_view method, ToolJson params);
[[nodiscard]] std::string mcp_answer(const ToolJson& id, ToolJson result);
[[nodiscard]] std::string mcp_refusal(const ToolJson& id, int code, std::string_view message);

// The text of a value that a server may have sent, "" where it is none.
[[nodiscard]] std::string mcp_text(const ToolJson& object, std::string_view name);

}  // namespace mynah::talk
