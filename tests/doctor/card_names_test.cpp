#include "doctor/machine/card_names.h"

#include <string>

#include <gtest/gtest.h>

namespace mynah::doctor {
namespace {

std::string called(const char* words) {
  const auto card = card_called(words, builtin_knowledge());
  return card ? card->name : card.error().message;
}

TEST(CardNames, ACardIsMeantByWhatPeopleCallIt) {
  for (const char* const words :
       {"RTX 4090", "rtx4090", "RTX-4090", "4090", "geforce rtx 4090", "NVIDIA GeForce RTX 4090"}) {
    EXPECT_EQ(called(words), "GeForce RTX 4090");
  }
  EXPECT_EQ(called("1650"), "GeForce GTX 1650");
  EXPECT_EQ(called("3060 ti"), "GeForce RTX 3060 Ti");
  EXPECT_EQ(called("2080super"), "GeForce RTX 2080 SUPER");
  EXPECT_EQ(called("a10g"), "NVIDIA A10G");
  EXPECT_EQ(called("mx450"), "GeForce MX450");
  EXPECT_EQ(called("12.0"), "compute capability 12.0");
  EXPECT_EQ(called("sm_89"), "compute capability 8.9");
  // Of several series, and none of GeForce's.
  for (const char* const words : {"4000", "6000", "9090", "89", "gtx"}) {
    EXPECT_NE(called(words).find("has no card"), std::string::npos) << called(words);
  }
}

// Words that are left out, and letters that are mistyped; a number makes it another card.
TEST(CardNames, TheNearestCardHasAllTheWordsOrTheNumber) {
  const auto meant = [](const char* words) {
    const std::string message = called(words);
    const size_t at = message.find("did you mean ");
    return at == std::string::npos ? std::string()
                                   : message.substr(at + 13, message.find('?', at) - at - 13);
  };
  EXPECT_EQ(meant("RTX PRO 6000"), "RTX PRO 6000 Blackwell");
  EXPECT_EQ(meant("Jetson Thor"), "Jetson AGX Thor");
  EXPECT_EQ(meant("GeForce RTX 50900"), "GeForce RTX 5090");
  EXPECT_EQ(meant("GeForse RTX 4090"), "GeForce RTX 4090");
  EXPECT_EQ(meant("Tesla K80"), "");
}

TEST(CardNames, FactsMayNameACardSo) {
  for (const char* const name : {"nvidia geforce rtx 4090", "rtx4090", "4090"}) {
    Machine machine;
    machine.cards.emplace_back().name = name;
    name_capabilities(machine, builtin_knowledge(), Trusted::Verified);
    EXPECT_EQ(machine.cards.front().compute_capability, "8.9") << name;
  }
  Machine other;
  other.cards.emplace_back().name = "7900";
  other.cards.front().vendor = "1002";
  name_capabilities(other, builtin_knowledge(), Trusted::All);
  EXPECT_EQ(other.cards.front().compute_capability, "");
}

}  // namespace
}  // namespace mynah::doctor
