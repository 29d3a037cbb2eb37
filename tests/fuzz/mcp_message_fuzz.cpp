// Any bytes as what an MCP server writes: messages, whose parts are what they say, or an error; and
// what is written of them is read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "talk/tools/mcp/message.h"
#include "talk/tools/mcp/session.h"

namespace mynah::talk {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto messages =
      read_mcp_messages(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!messages) {
    MYNAH_CHECK(messages.error().code == ErrorCode::InvalidInput, "it is the server's fault");
    return 0;
  }
  for (const McpMessage& message : *messages) {
    MYNAH_CHECK(message.is_answer() || !message.method.empty(), "it is one of the three");
    static_cast<void>(mcp_content_text(message.result));
    if (message.is_request()) {
      const auto again = read_mcp_messages(mcp_answer(message.id, message.params));
      MYNAH_CHECK(again && again->front().id == message.id, "an answer names its request");
    }
  }
  return 0;
}

}  // namespace mynah::talk
