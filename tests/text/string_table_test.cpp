#include "text/phonemes/string_table.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace mynah {
namespace {

std::string long_text(size_t bytes) {
  std::string text(bytes, 'x');
  text.back() = 'y';
  return text;
}

TEST(StringTable, HasWhatWasAddedLastAndNothingElse) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<std::string, std::string>>& pairs) {
    StringTableBuilder builder;
    std::map<std::string, std::string> wanted;
    for (const auto& [key, value] : pairs) {
      RC_ASSERT(builder.add(key, value));
      wanted[key] = value;
    }
    const StringTable table = StringTable::of(builder.finish());
    RC_ASSERT(table.size() == wanted.size());
    for (const auto& [key, value] : wanted) {
      RC_ASSERT(table.find(key) == value);
      RC_ASSERT(wanted.contains(key + "+") || !table.find(key + "+"));
    }
  }));
}

TEST(StringTable, HasStringsUpToTheLongestThatFit) {
  StringTableBuilder builder;
  for (const size_t bytes : {1U, 255U, 256U, 65535U}) {
    EXPECT_TRUE(builder.add(long_text(bytes), long_text(65536 - bytes)));
  }
  EXPECT_FALSE(builder.add(long_text(65536), ""));
  EXPECT_FALSE(builder.add("", long_text(65536)));
  const StringTable table = StringTable::of(builder.finish());
  EXPECT_EQ(table.size(), 4U);
  for (const size_t bytes : {1U, 255U, 256U, 65535U}) {
    EXPECT_EQ(table.find(long_text(bytes)), long_text(65536 - bytes));
  }
}

TEST(StringTable, OfOtherBytesIsNone) {
  StringTableBuilder builder;
  ASSERT_TRUE(builder.add("word", "value"));
  const std::string whole = builder.finish();
  ASSERT_TRUE(StringTable::open(whole, nullptr));
  EXPECT_FALSE(StringTable::open("", nullptr));
  EXPECT_FALSE(StringTable::open("JUNK" + whole.substr(4), nullptr));
  EXPECT_FALSE(StringTable::open(whole + "x", nullptr));
  EXPECT_FALSE(StringTable::open(std::string_view(whole).substr(0, whole.size() - 1), nullptr));
  EXPECT_FALSE(StringTable().find(""));
}

}  // namespace
}  // namespace mynah
