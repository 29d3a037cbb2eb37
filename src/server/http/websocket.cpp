#include "server/http/websocket.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <openssl/sha.h>

#include "base/ascii.h"
#include "store/base64.h"
#include "text/utf8.h"

namespace mynah::server {
namespace {

constexpr uint8_t kContinuation = 0;
constexpr uint8_t kText = 1;
constexpr uint8_t kBinary = 2;
constexpr uint8_t kClose = 8;
constexpr uint8_t kPing = 9;
constexpr uint8_t kPong = 10;

constexpr uint8_t kFin = 0x80;
constexpr uint8_t kReserved = 0x70;
constexpr uint8_t kOpcode = 0x0F;
constexpr uint8_t kMasked = 0x80;
constexpr size_t kMostControl = 125;

bool is_control(uint8_t opcode) {
  return opcode >= kClose;
}

bool is_utf8(std::string_view text) {
  while (true) {
    // Nearly all of it is base64.
    const auto other =
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    text.remove_prefix(static_cast<size_t>(other - text.begin()));
    if (text.empty()) {
      return true;
    }
    const Utf8Step step = next_code_point(text);
    if (!step.valid) {
      return false;
    }
    text.remove_prefix(step.bytes);
  }
}

// Whether one of a header's words, which stand between commas, is that.
bool has_word(const Headers& headers, std::string_view name, std::string_view word) {
  return std::ranges::any_of(headers.fields(), [&](const Headers::Field& field) {
    return equal_but_for_case(field.first, name) &&
           std::ranges::any_of(split(field.second, ','), [word](std::string_view one) {
             return equal_but_for_case(trimmed(one), word);
           });
  });
}

// 16 bytes in base64: 22 letters of it and "==".
bool is_key(std::string_view key) {
  constexpr size_t kLetters = 22;
  return key.size() == kLetters + 2 && key.ends_with("==") &&
         std::ranges::all_of(key.substr(0, kLetters), [](char c) {
           return is_ascii_alnum(static_cast<unsigned char>(c)) || c == '+' || c == '/';
         });
}

std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return base64(std::as_bytes(std::span(digest)));
}

SocketFault wrong(std::string reason) {
  return {.code = CloseCode::ProtocolError, .reason = std::move(reason)};
}

SocketFault too_big() {
  return {.code = CloseCode::TooBig,
          .reason = fmt::format("a message has at most {} bytes", kMostMessage)};
}

// Those that a client may send (RFC 6455, 7.4).
bool is_close_code(unsigned code) {
  constexpr unsigned kReservedOnes[] = {1004, 1005, 1006};
  const bool of_the_standard = code >= 1000 && code <= 1014;
  return (of_the_standard && std::ranges::find(kReservedOnes, code) == std::end(kReservedOnes)) ||
         (code >= 3000 && code <= 4999);
}

std::string frame_of(uint8_t opcode, std::string_view payload) {
  std::string frame(1, static_cast<char>(kFin | opcode));
  const size_t size = payload.size();
  const int bytes = size <= kMostControl ? 0 : size <= UINT16_MAX ? 2 : 8;
  frame += static_cast<char>(bytes == 0 ? size : bytes == 2 ? 126 : 127);
  for (int i = bytes - 1; i >= 0; --i) {
    frame += static_cast<char>(size >> (8U * static_cast<unsigned>(i)));
  }
  frame += payload;
  return frame;
}

}  // namespace

std::vector<std::string_view> offered_protocols(const Headers& headers) {
  std::vector<std::string_view> all;
  for (const auto& [name, value] : headers.fields()) {
    if (!equal_but_for_case(name, "sec-websocket-protocol")) {
      continue;
    }
    for (const std::string_view one : split(value, ',')) {
      if (const std::string_view protocol = trimmed(one); !protocol.empty()) {
        all.push_back(protocol);
      }
    }
  }
  return all;
}

Result<Response> upgrade_answer(const RequestHead& head, std::string_view protocol) {
  const std::string_view key = head.headers.get("sec-websocket-key");
  if (head.method != "GET" || !has_word(head.headers, "upgrade", "websocket") ||
      !has_word(head.headers, "connection", "upgrade")) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a WebSocket, found a request without an upgrade to one",
                            head.path));
  }
  if (head.headers.get("sec-websocket-version") != "13") {
    return fail(ErrorCode::InvalidInput, fmt::format("Sec-WebSocket-Version: wanted 13, found '{}'",
                                                     head.headers.get("sec-websocket-version")));
  }
  if (!is_key(key)) {
    return fail(ErrorCode::InvalidInput, "Sec-WebSocket-Key: wanted 16 bytes in base64");
  }
  Response answer{.status = 101, .type = {}, .body = {}};
  answer.headers.set("Upgrade", "websocket");
  answer.headers.set("Connection", "Upgrade");
  answer.headers.set("Sec-WebSocket-Accept", accept_of(key));
  const auto offered = offered_protocols(head.headers);
  if (std::ranges::find(offered, protocol) != offered.end()) {
    answer.headers.set("Sec-WebSocket-Protocol", std::string(protocol));
  }
  return answer;
}

std::optional<SocketFault> MessageReader::check_head() const {
  const Frame& frame = *frame_;
  if (is_control(frame.opcode)) {
    if (frame.opcode > kPong) {
      return wrong(fmt::format("there is no opcode {}", frame.opcode));
    }
    if (!frame.last || frame.length > kMostControl) {
      return wrong("a control frame is whole, and of 125 bytes at most");
    }
    return std::nullopt;
  }
  if (frame.opcode > kBinary) {
    return wrong(fmt::format("there is no opcode {}", frame.opcode));
  }
  if ((frame.opcode == kContinuation) != message_.has_value()) {
    return wrong(message_ ? "a message begins within another" : "nothing is to be continued");
  }
  if (frame.length > kMostMessage - data_.size()) {
    return too_big();
  }
  return std::nullopt;
}

std::optional<SocketFault> MessageReader::read_head() {
  const auto byte = [this](size_t at) { return static_cast<uint8_t>(head_[at]); };
  if (head_.size() < 2) {
    return std::nullopt;
  }
  if ((byte(0) & kReserved) != 0) {
    return wrong("bits of an extension are set, and there is none");
  }
  if ((byte(1) & kMasked) == 0) {
    return wrong("a client's frames are masked");
  }
  const uint8_t short_length = byte(1) & ~kMasked;
  const size_t more = short_length == 126 ? 2U : short_length == 127 ? 8U : 0U;
  constexpr size_t kMask = sizeof(Frame::mask);
  if (head_.size() < 2 + more + kMask) {
    return std::nullopt;
  }
  Frame frame{.opcode = static_cast<uint8_t>(byte(0) & kOpcode),
              .last = (byte(0) & kFin) != 0,
              .length = more == 0 ? short_length : 0U};
  for (size_t i = 0; i < more; ++i) {
    frame.length = frame.length << 8U | byte(2 + i);
  }
  if ((more == 2 && frame.length <= kMostControl) || (more == 8 && frame.length <= UINT16_MAX)) {
    return wrong("a length is written in as few bytes as it needs");
  }
  for (size_t i = 0; i < kMask; ++i) {
    frame.mask[i] = byte(2 + more + i);
  }
  frame_ = frame;
  head_.clear();
  auto fault = check_head();
  if (!fault && !is_control(frame.opcode) && frame.opcode != kContinuation) {
    message_ = frame.opcode == kText ? MessageKind::Text : MessageKind::Binary;
  }
  return fault;
}

std::optional<SocketFault> MessageReader::end_frame(std::vector<SocketMessage>& messages) {
  const Frame frame = *std::exchange(frame_, std::nullopt);
  if (!is_control(frame.opcode)) {
    if (frame.last) {
      SocketMessage message{.kind = *std::exchange(message_, std::nullopt),
                            .payload = std::exchange(data_, {})};
      if (message.kind == MessageKind::Text && !is_utf8(message.payload)) {
        return SocketFault{.code = CloseCode::NotUtf8, .reason = "a text is UTF-8"};
      }
      messages.push_back(std::move(message));
    }
    return std::nullopt;
  }
  SocketMessage message{.kind = frame.opcode == kPing   ? MessageKind::Ping
                                : frame.opcode == kPong ? MessageKind::Pong
                                                        : MessageKind::Close,
                        .payload = std::exchange(payload_, {})};
  if (message.kind == MessageKind::Close && !message.payload.empty()) {
    const auto byte = [&message](size_t at) { return static_cast<uint8_t>(message.payload[at]); };
    if (message.payload.size() == 1) {
      return wrong("a close code has two bytes");
    }
    const unsigned code = byte(0) * 256U + byte(1);
    if (!is_close_code(code)) {
      return wrong(fmt::format("{} is no close code", code));
    }
    message.code = static_cast<CloseCode>(code);
    message.payload.erase(0, 2);
    if (!is_utf8(message.payload)) {
      return SocketFault{.code = CloseCode::NotUtf8, .reason = "a text is UTF-8"};
    }
  }
  over_ = message.kind == MessageKind::Close;
  messages.push_back(std::move(message));
  return std::nullopt;
}

MessageReader::Taken MessageReader::take(std::string_view bytes) {
  Taken taken;
  while (!over_ && !taken.fault && (!bytes.empty() || (frame_ && frame_->length == 0))) {
    if (!frame_) {
      head_ += bytes.front();
      bytes.remove_prefix(1);
      taken.fault = read_head();
      continue;
    }
    Frame& frame = *frame_;
    std::string& into = is_control(frame.opcode) ? payload_ : data_;
    const size_t count = std::min<uint64_t>(bytes.size(), frame.length - frame.taken);
    const size_t at = into.size();
    into.append(bytes.substr(0, count));
    for (size_t i = 0; i < count; ++i) {
      into[at + i] = static_cast<char>(static_cast<uint8_t>(into[at + i]) ^
                                       frame.mask[(frame.taken + i) % sizeof(frame.mask)]);
    }
    bytes.remove_prefix(count);
    frame.taken += count;
    if (frame.taken == frame.length) {
      taken.fault = end_frame(taken.messages);
    }
  }
  over_ = over_ || taken.fault;
  return taken;
}

std::string text_message(std::string_view text) {
  return frame_of(kText, text);
}

std::string ping_message(std::string_view payload) {
  return frame_of(kPing, payload);
}

std::string pong_message(std::string_view payload) {
  return frame_of(kPong, payload);
}

std::string close_message(CloseCode code, std::string_view reason) {
  std::string payload;
  if (code != CloseCode::NoCode) {
    const auto number = static_cast<uint16_t>(code);
    payload = {static_cast<char>(number >> 8U), static_cast<char>(number & 0xFFU)};
    payload += reason.substr(0, kMostControl - 2);
  }
  return frame_of(kClose, payload);
}

}  // namespace mynah::server
