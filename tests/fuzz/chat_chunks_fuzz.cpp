// Any bytes as the events of a chat completion, one a line: what was told is the reply, however it
// ends.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "talk/organs/chat_chunks.h"

namespace mynah::talk {
namespace {

// The message that deltas are, one behind the other.
void add_chunk(const ReplyDelta& delta, ReplyMessage& message) {
  message.content += delta.content;
  message.reasoning += delta.reasoning;
  for (const CallDelta& call : delta.calls) {
    MYNAH_CHECK(call.index <= message.calls.size(), "calls follow each other");
    if (call.index == message.calls.size()) {
      message.calls.emplace_back();
    }
    ToolCall& whole = message.calls[call.index];
    whole.id += call.id;
    whole.name += call.name;
    whole.arguments += call.arguments;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ChatChunks chunks(1);
  ReplyMessage told;
  for (const std::string_view line :
       split(std::string_view(reinterpret_cast<const char*>(data), size), '\n')) {
    const auto delta = chunks.push(line);
    if (!delta) {
      MYNAH_CHECK(
          delta.error().code == ErrorCode::InvalidInput || delta.error().code == ErrorCode::Io,
          "it is the server's fault");
      break;
    }
    add_chunk(delta->said, told);
  }
  add_chunk(chunks.finish().said, told);
  const ReplyMessage& whole = chunks.reply().message;
  MYNAH_CHECK(told.content == whole.content && told.reasoning == whole.reasoning,
              "what was told is the reply");
  MYNAH_CHECK(told.calls.size() == whole.calls.size(), "calls are told");
  for (size_t i = 0; i < whole.calls.size(); ++i) {
    told.calls[i].valid = whole.calls[i].valid;
    MYNAH_CHECK(told.calls[i] == whole.calls[i], "as they are");
  }
  return 0;
}

}  // namespace mynah::talk
