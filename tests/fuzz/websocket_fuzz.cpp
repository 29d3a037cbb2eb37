// Any bytes as a client's frames: however they come in pieces, the messages are the same, and
// nothing larger than the bound is kept.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/http/websocket.h"

namespace {

using namespace mynah;          // NOLINT(google-build-using-namespace): a program of its own
using namespace mynah::server;  // NOLINT(google-build-using-namespace)

struct Read {
  std::vector<std::string> messages;  // each with its kind and code
  int fault = 0;

  bool operator==(const Read&) const = default;
};

Read read(std::string_view bytes, size_t piece) {
  MessageReader reader;
  Read all;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const MessageReader::Taken taken = reader.take(bytes.substr(at, piece));
    for (const SocketMessage& message : taken.messages) {
      MYNAH_CHECK(message.payload.size() <= kMostMessage, "messages have a bound");
      all.messages.push_back(std::to_string(static_cast<int>(message.kind)) + " " +
                             std::to_string(static_cast<int>(message.code)) + " " +
                             message.payload);
    }
    if (taken.fault) {
      all.fault = static_cast<int>(taken.fault->code);
    }
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  MYNAH_CHECK(read(bytes, size + 1) == read(bytes, 1), "pieces say what the whole says");

  // What a client offers in the head.
  RequestHead head;
  head.method = "GET";
  head.headers.add("Sec-WebSocket-Protocol", std::string(bytes));
  head.headers.add("Sec-WebSocket-Key", std::string(bytes));
  for (const std::string_view protocol : offered_protocols(head.headers)) {
    MYNAH_CHECK(!protocol.empty() && !protocol.contains(','), "a protocol is a word");
  }
  MYNAH_CHECK(!upgrade_answer(head, "realtime"), "this is no request to upgrade");
  return 0;
}
