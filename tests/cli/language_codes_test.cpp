#include "cli/hear/language_codes.h"

#include <gtest/gtest.h>

namespace mynah::cli {
namespace {

TEST(LanguageCodes, EveryNameOfALanguageGivesAllItsCodes) {
  for (const char* name : {"de", "DEU", "ger", "German"}) {
    EXPECT_EQ(language_codes(name), "de,deu,ger") << name;
  }
  EXPECT_EQ(language_codes("castilian"), "es,spa");
  EXPECT_EQ(language_codes("zh"), "zh,zho,chi");
}

TEST(LanguageCodes, ANameIsACodeAndACodeIsItself) {
  EXPECT_EQ(language_code_of_name("German"), "de");
  EXPECT_EQ(language_code_of_name("japanese"), "ja");
  for (const char* code : {"", "de", "en-GB", "yue", "pt-br", "Klingon"}) {
    EXPECT_EQ(language_code_of_name(code), code);
  }
}

TEST(LanguageCodes, WhatIsNotKnownStaysAsItIs) {
  EXPECT_EQ(language_codes("2"), "2");
  EXPECT_EQ(language_codes("QAA"), "qaa");
  EXPECT_EQ(language_codes(""), "");
}

}  // namespace
}  // namespace mynah::cli
