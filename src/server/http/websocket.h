// WebSocket (RFC 6455): the upgrade of a request, and messages as they are framed. No extensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace mynah::server {

// A message of a client's or ours has at most so many bytes, as has a frame.
inline constexpr size_t kMostMessage = 1U << 20U;

// Why a WebSocket is closed (RFC 6455, 7.4.1).
enum class CloseCode : uint16_t {
  Normal = 1000,
  ProtocolError = 1002,
  NotTaken = 1003,  // data of a kind that is not dealt with
  NoCode = 1005,    // the client told none; never sent
  NotUtf8 = 1007,
  TooBig = 1009,
  Fault = 1011,
  Restart = 1012,
};

// The subprotocols that a client offers, as it wrote them.
[[nodiscard]] std::vector<std::string_view> offered_protocols(const Headers& headers);

// The answer to a request that wants a WebSocket: 101 with `protocol` where that was offered.
// InvalidInput: it is no such request.
[[nodiscard]] Result<Response> upgrade_answer(const RequestHead& head, std::string_view protocol);

enum class MessageKind : uint8_t { Text, Binary, Close, Ping, Pong };

struct SocketMessage {
  MessageKind kind = MessageKind::Text;
  std::string payload;  // Close: without its code
  CloseCode code = CloseCode::NoCode;
};

// What a client did that closes its WebSocket.
struct SocketFault {
  CloseCode code = CloseCode::ProtocolError;
  std::string reason;  // at most 123 bytes
};

// Reads a client's messages as their bytes come.
class MessageReader {
 public:
  struct Taken {
    std::vector<SocketMessage> messages;
    std::optional<SocketFault> fault;  // behind them; nothing more is read
  };

  // The messages that are whole now.
  [[nodiscard]] Taken take(std::string_view bytes);

  // Whether nothing more is read: the client closed, or did what it must not.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  struct Frame {
    uint8_t opcode = 0;
    bool last = false;
    uint64_t length = 0;
    uint64_t taken = 0;  // bytes of the payload
    uint8_t mask[4] = {};
  };

  // Reads the head of a frame from what is kept; none: it is not whole.
  [[nodiscard]] std::optional<SocketFault> read_head();
  [[nodiscard]] std::optional<SocketFault> check_head() const;
  // The frame is whole.
  [[nodiscard]] std::optional<SocketFault> end_frame(std::vector<SocketMessage>& messages);

  std::string head_;  // of the next frame, as far as it came
  std::optional<Frame> frame_;
  std::string payload_;                 // of the frame, where it is a control frame
  std::optional<MessageKind> message_;  // that has begun
  std::string data_;                    // of it
  bool over_ = false;
};

// A message as a server sends it, in one frame.
[[nodiscard]] std::string text_message(std::string_view text);
[[nodiscard]] std::string ping_message(std::string_view payload);
[[nodiscard]] std::string pong_message(std::string_view payload);
[[nodiscard]] std::string close_message(CloseCode code, std::string_view reason);

}  // namespace mynah::server
