// WebSocket: the upgrade, and messages in frames (RFC 6455).
#include "server/http/websocket.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/socket_client.h"

namespace mynah::server {
namespace {

using test::masked_frame;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RequestHead asking(std::vector<Headers::Field> changed = {}) {
  RequestHead head;
  head.method = "GET";
  head.path = "/v1/realtime";
  for (const auto& [name, value] :
       {std::pair("Upgrade", "WebSocket"), std::pair("Connection", "keep-alive, Upgrade"),
        std::pair("Sec-WebSocket-Version", "13"),
        std::pair("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")}) {
    head.headers.set(name, value);
  }
  for (auto& [name, value] : changed) {
    head.headers.set(std::move(name), std::move(value));
  }
  return head;
}

// The fault of frames that come at once and byte by byte.
CloseCode fault_of(const std::string& bytes) {
  MessageReader whole;
  const auto taken = whole.take(bytes);
  MessageReader pieces;
  std::optional<SocketFault> fault;
  for (const char byte : bytes) {
    auto more = pieces.take({&byte, 1});
    fault = fault ? fault : more.fault;
  }
  EXPECT_EQ(taken.fault.has_value(), fault.has_value());
  EXPECT_EQ(whole.is_over(), pieces.is_over());
  if (!taken.fault) {
    return CloseCode::Normal;
  }
  EXPECT_LE(taken.fault->reason.size(), 123U);
  EXPECT_THAT(whole.take(masked_frame(test::kTextFrame, "more")).messages, IsEmpty());
  return taken.fault->code;
}

TEST(Upgrade, AnswersWithTheKeyAndTheProtocol) {
  const auto plain = upgrade_answer(asking(), "realtime");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 101);
  // The example of RFC 6455, section 1.3.
  EXPECT_EQ(plain->headers.get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_FALSE(plain->headers.has("Sec-WebSocket-Protocol"));
  const RequestHead offering =
      asking({{"Sec-WebSocket-Protocol", "openai-insecure-api-key.k, realtime ,x"}});
  EXPECT_THAT(offered_protocols(offering.headers),
              ElementsAre("openai-insecure-api-key.k", "realtime", "x"));
  EXPECT_EQ(upgrade_answer(offering, "realtime")->headers.get("Sec-WebSocket-Protocol"),
            "realtime");
}

TEST(Upgrade, RefusesWhatIsNone) {
  for (const auto& [name, value] :
       {std::pair("Upgrade", "h2c"), std::pair("Connection", "close"),
        std::pair("Sec-WebSocket-Version", "8"), std::pair("Sec-WebSocket-Key", "short=="),
        std::pair("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZ!==")}) {
    const auto refused = upgrade_answer(asking({{name, value}}), "realtime");
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  }
}

TEST(MessageReader, PutsFramesTogether) {
  MessageReader reader;
  const std::string bytes =
      masked_frame(0x01, "Hel") + masked_frame(0x89, "there?") + masked_frame(0x00, "") +
      masked_frame(0x80, "lo") + masked_frame(0x82, std::string("\x00\xFF", 2)) +
      masked_frame(0x81, std::string(70'000, 'x')) + masked_frame(0x88, "\x03\xE9 bye") + "ignored";
  std::vector<SocketMessage> messages;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    auto taken = reader.take(std::string_view(bytes).substr(at, 7));
    EXPECT_FALSE(taken.fault);
    std::ranges::move(taken.messages, std::back_inserter(messages));
  }
  ASSERT_THAT(messages, SizeIs(5));
  EXPECT_EQ(messages[0].kind, MessageKind::Ping);
  EXPECT_EQ(messages[0].payload, "there?");
  EXPECT_EQ(messages[1].kind, MessageKind::Text);
  EXPECT_EQ(messages[1].payload, "Hello");
  EXPECT_EQ(messages[2].kind, MessageKind::Binary);
  EXPECT_EQ(messages[3].payload.size(), 70'000U);
  EXPECT_EQ(messages[4].kind, MessageKind::Close);
  EXPECT_EQ(static_cast<int>(messages[4].code), 1001);
  EXPECT_EQ(messages[4].payload, " bye");
  EXPECT_TRUE(reader.is_over());
}

TEST(MessageReader, ClosesOnWhatMustNotBe) {
  const std::string unmasked("\x81\x02hi", 4);
  EXPECT_EQ(fault_of(unmasked), CloseCode::ProtocolError);
  EXPECT_EQ(fault_of(masked_frame(0xC1, "a")), CloseCode::ProtocolError) << "an extension's bit";
  EXPECT_EQ(fault_of(masked_frame(0x83, "a")), CloseCode::ProtocolError) << "an opcode of data";
  EXPECT_EQ(fault_of(masked_frame(0x8B, "a")), CloseCode::ProtocolError) << "one of control";
  EXPECT_EQ(fault_of(masked_frame(0x09, "a")), CloseCode::ProtocolError) << "half a ping";
  EXPECT_EQ(fault_of(masked_frame(0x89, std::string(126, 'a'))), CloseCode::ProtocolError);
  EXPECT_EQ(fault_of(masked_frame(0x80, "a")), CloseCode::ProtocolError) << "nothing to continue";
  EXPECT_EQ(fault_of(masked_frame(0x01, "a") + masked_frame(0x81, "b")), CloseCode::ProtocolError);
  EXPECT_EQ(fault_of(masked_frame(0x88, "x")), CloseCode::ProtocolError) << "half a code";
  EXPECT_EQ(fault_of(masked_frame(0x88, "\x03\xED")), CloseCode::ProtocolError) << "1005";
  EXPECT_EQ(fault_of(masked_frame(0x88, "\x07\xD0")), CloseCode::ProtocolError) << "2000";
  EXPECT_EQ(fault_of(masked_frame(0x81, "\xC3(")), CloseCode::NotUtf8);
  EXPECT_EQ(fault_of(masked_frame(0x88, "\x03\xE8\xFF")), CloseCode::NotUtf8);
  // A character in two frames is one.
  EXPECT_EQ(fault_of(masked_frame(0x01, "\xC3") + masked_frame(0x80, "\xA9")), CloseCode::Normal);
  // Lengths in more bytes than they need.
  EXPECT_EQ(fault_of(std::string("\x81\xFE\x00\x01....a", 9)), CloseCode::ProtocolError);
  EXPECT_EQ(fault_of(std::string("\x81\xFF\0\0\0\0\0\0\xFF\xFF....", 14)),
            CloseCode::ProtocolError);
  // A length that is too large is refused before anything of it comes.
  EXPECT_EQ(fault_of(std::string("\x81\xFF\0\0\0\0\0\x10\0\x01....", 14)), CloseCode::TooBig);
  EXPECT_EQ(fault_of(std::string("\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF....", 14)),
            CloseCode::TooBig);
  const std::string half(kMostMessage / 2, 'a');
  EXPECT_EQ(fault_of(masked_frame(0x01, half) + masked_frame(0x80, half)), CloseCode::Normal);
  EXPECT_EQ(fault_of(masked_frame(0x01, half) + masked_frame(0x00, half) + masked_frame(0x80, "a")),
            CloseCode::TooBig);
}

TEST(ServerMessages, AreWholeFramesWithoutAMask) {
  EXPECT_EQ(text_message("hi"), "\x81\x02hi");
  EXPECT_EQ(text_message(std::string(126, 'a')).substr(0, 4), std::string("\x81\x7E\x00\x7E", 4));
  EXPECT_EQ(text_message(std::string(70'000, 'a')).substr(0, 10),
            std::string("\x81\x7F\0\0\0\0\0\x01\x11\x70", 10));
  EXPECT_EQ(close_message(CloseCode::Restart, "later"), "\x88\x07\x03\xF4later");
  EXPECT_EQ(close_message(CloseCode::NoCode, "x"), std::string("\x88\x00", 2));
  EXPECT_EQ(close_message(CloseCode::Fault, std::string(500, 'r')).size(), 2U + 125U);
  EXPECT_EQ(ping_message("p"), "\x89\x01p");
  EXPECT_EQ(pong_message("p"), "\x8A\x01p");
}

}  // namespace
}  // namespace mynah::server
