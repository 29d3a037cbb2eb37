// Messages of the Wyoming protocol, as their bytes come.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/wyoming/message.h"

namespace mynah::server {
namespace {

using ::testing::SizeIs;

TEST(WyomingReader, ReadsWhatComesByteByByte) {
  WyomingMessage sent;
  sent.type = "audio-chunk";
  sent.data = {{"rate", 16000}};
  sent.payload = "a\nb";
  const std::string bytes = encode(sent) + "{\"type\":\"ping\",\"data\":{\"text\":\"here\"}}\n";
  WyomingReader reader;
  std::vector<WyomingMessage> came;
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(reader.message_under_way() == 0, i == 0 || i == encode(sent).size()) << i;
    auto whole = reader.take(bytes.substr(i, 1));
    ASSERT_TRUE(whole) << whole.error().message;
    came.insert(came.end(), whole->begin(), whole->end());
  }
  ASSERT_THAT(came, SizeIs(2));
  EXPECT_EQ(came[0].payload, sent.payload);
  EXPECT_EQ(came[0].number("rate", 0), 16000);
  EXPECT_EQ(came[0].came, encode(sent).size());
  EXPECT_EQ(came[1].text("text"), "here");
  WyomingReader other;
  EXPECT_THAT(*other.take(bytes), SizeIs(2));
}

TEST(WyomingReader, RefusesWhatIsNone) {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  const std::string bad[] = {
      "hello\n",
      "[]\n",
      "{\"type\":5}\n",
      "{\"type\":\"a\",\"data_length\":-1}\n",
      "{\"type\":\"a\",\"data_length\":1.5}\n",
      "{\"type\":\"a\",\"payload_length\":18446744073709551615}\n",
      "{\"type\":\"a\",\"payload_length\":1e300}\n",
      "{\"type\":\"a\",\"data_length\":2}\n[]",
      "{\"type\":\"a\",\"data\":{\"a\":" + deep + "}}\n",
      std::string(70'000, ' ') + "\n",
      std::string(70'000, ' '),
  };
  for (const std::string& bytes : bad) {
    WyomingReader reader;
    EXPECT_FALSE(reader.take(bytes)) << bytes.substr(0, 60);
  }
}

}  // namespace
}  // namespace mynah::server
