// Texts that end a reply, however it is cut.
#include "chat/stop_texts.h"

#include <random>

#include <gtest/gtest.h>

namespace mynah {
namespace {

// All that is told of a text that comes in pieces.
std::string told_of(const std::string& text, const std::vector<std::string>& stops,
                    std::mt19937* random, bool& found) {
  StopTexts reader(stops);
  std::string told;
  for (size_t at = 0; at < text.size();) {
    const size_t size = random == nullptr ? text.size() : 1 + (*random)() % 4;
    told += reader.push(std::string_view(text).substr(at, size));
    at += size;
  }
  told += reader.finish();
  found = reader.found();
  return told;
}

TEST(StopTexts, NothingComesFromAStopOn) {
  bool found = false;
  EXPECT_EQ(told_of("one\nUser: two", {"\nUser:"}, nullptr, found), "one");
  EXPECT_TRUE(found);
  EXPECT_EQ(told_of("one\nUs", {"\nUser:"}, nullptr, found), "one\nUs");
  EXPECT_FALSE(found);
  EXPECT_EQ(told_of("anything", {}, nullptr, found), "anything");
  EXPECT_EQ(told_of("anything", {""}, nullptr, found), "anything");
  EXPECT_FALSE(found);
}

// What is the beginning of a longer stop may hold a shorter one.
TEST(StopTexts, AShortOneInALongOne) {
  bool found = false;
  EXPECT_EQ(told_of("xabx", {"abcd", "b"}, nullptr, found), "xa");
  EXPECT_TRUE(found);
  EXPECT_EQ(told_of("xab", {"abcd", "b"}, nullptr, found), "xa");
  EXPECT_TRUE(found);
}

TEST(StopTexts, AnyCutIsToldTheSame) {
  std::mt19937 random(20261130);
  const std::vector<std::string> stops = {"aab", "bb", "abca"};
  for (int i = 0; i < 3000; ++i) {
    std::string text(1 + random() % 20, 'a');
    for (char& c : text) {
      c = static_cast<char>('a' + random() % 3);
    }
    size_t first = std::string::npos;
    for (const std::string& stop : stops) {
      first = std::min(first, text.find(stop));
    }
    bool found = false;
    EXPECT_EQ(told_of(text, stops, &random, found), text.substr(0, first)) << text;
    EXPECT_EQ(found, first != std::string::npos) << text;
  }
}

}  // namespace
}  // namespace mynah
