// A client of a WebSocket under test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "server/client.h"

namespace mynah::server::test {

inline constexpr uint8_t kTextFrame = 0x81;

// A frame as a client sends it.
inline std::string masked_frame(uint8_t first, std::string_view payload) {
  constexpr std::string_view kMask = "\x11\x92\x23\x74";
  const size_t size = payload.size();
  std::string frame(1, static_cast<char>(first));
  const int bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
  frame += static_cast<char>(0x80U | (bytes == 0 ? size : bytes == 2 ? 126U : 127U));
  for (int i = bytes - 1; i >= 0; --i) {
    frame += static_cast<char>(size >> (8U * static_cast<unsigned>(i)));
  }
  frame += kMask;
  for (size_t i = 0; i < size; ++i) {
    frame += static_cast<char>(payload[i] ^ kMask[i % kMask.size()]);
  }
  return frame;
}

// A request to upgrade; `more`: other header fields.
inline std::string upgrade_request(const std::string& target, const std::string& more = {}) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade"
      "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n",
      target, more);
}

class SocketClient {
 public:
  SocketClient(const std::string& address, const std::string& target, const std::string& more = {})
      : client_(address) {
    client_.send(upgrade_request(target, more));
    head_ = client_.until("\r\n\r\n");
  }

  // Of the answer to the request.
  [[nodiscard]] const std::string& head() const { return head_; }

  bool send(std::string_view text) { return client_.send(masked_frame(kTextFrame, text)); }

  Client& client() { return client_; }

  // The next frame's first byte and payload; 0 and "": the server closed.
  std::pair<uint8_t, std::string> frame() {
    const std::string begin = client_.take(2);
    if (begin.size() < 2) {
      return {0, ""};
    }
    size_t size = static_cast<uint8_t>(begin[1]);
    if (size >= 126) {
      const std::string more = client_.take(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : more) {
        size = size << 8U | static_cast<uint8_t>(byte);
      }
    }
    return {static_cast<uint8_t>(begin[0]), client_.take(size)};
  }

  // The next message of text.
  std::string text() {
    while (true) {
      auto [first, payload] = frame();
      if (first == kTextFrame || first == 0) {
        return std::move(payload);
      }
    }
  }

 private:
  Client client_;
  std::string head_;
};

}  // namespace mynah::server::test
