// Words to expect, as users give them.
#include "speech/hotwords.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Hotwords, ArePhrasesBetweenCommasOrLinesElseWords) {
  EXPECT_THAT(hotwords_in("Kaito, New York,,  Tadhg ,"), ElementsAre("Kaito", "New York", "Tadhg"));
  EXPECT_THAT(hotwords_in("New York\r\nKaito\n"), ElementsAre("New York", "Kaito"));
  EXPECT_THAT(hotwords_in(" Kaito  Siobhan\tTadhg "), ElementsAre("Kaito", "Siobhan", "Tadhg"));
  EXPECT_THAT(hotwords_in("New York,"), ElementsAre("New York"));
  EXPECT_THAT(hotwords_in(" , \n"), IsEmpty());
  EXPECT_THAT(hotwords_in(""), IsEmpty());
}

TEST(Hotwords, AreRefusedWhereTheyAreNoWords) {
  EXPECT_TRUE(check_hotwords({"Zoë", "東京"}).has_value());
  const Status broken = check_hotwords({"a", "caf\xE9"});
  ASSERT_FALSE(broken.has_value());
  EXPECT_THAT(broken.error().message, HasSubstr("UTF-8"));
  EXPECT_THAT(broken.error().message, HasSubstr("word 2"));
  const Status many = check_hotwords(std::vector<std::string>(2, std::string(600'000, 'a')));
  ASSERT_FALSE(many.has_value());
  EXPECT_THAT(many.error().message, HasSubstr("1000000"));
  EXPECT_THAT(many.error().message, HasSubstr("1200000"));
}

}  // namespace
}  // namespace mynah
