// What drafts agree on, of made-up tokens.
#include "speech/draft_agreement.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::IsEmpty;

class DraftAgreementTest : public testing::Test {
 protected:
  // Segments of tokens that "|" ends; "/" ends a segment, "?" says that a token is unlikely.
  std::vector<Segment> draft(std::string_view text) {
    std::vector<Segment> segments(1);
    segments.back().opening =
        TimestampToken{.token = 5000, .log_probability = -0.1F, .position = 0};
    std::string token;
    float log_probability = -0.1F;
    for (const char c : text) {
      Segment& last = segments.back();
      if (c == '?') {
        log_probability = -0.45F;
      } else if (c == '/') {
        const auto timestamp = last.opening;
        last.closing = timestamp;
        segments.emplace_back().opening = timestamp;
      } else if (c != '|') {
        token += c;
      } else {
        const auto id = ids_.try_emplace(token, static_cast<int32_t>(ids_.size())).first->second;
        last.tokens.push_back(id);
        last.token_log_probabilities.push_back(std::exchange(log_probability, -0.1F));
        last.text += std::exchange(token, {});
      }
    }
    return segments;
  }

  std::string agreed() const { return text_of(agreement_.agreed()); }

  std::map<std::string, int32_t> ids_;
  DraftAgreement agreement_ = DraftAgreement([this](int32_t token) {
    for (const auto& [text, id] : ids_) {
      if (id == token) {
        return text;
      }
    }
    return std::string("no such token");
  });
};

TEST_F(DraftAgreementTest, WordsThatTwoDraftsHaveAreAgreedOnWhereThreeMoreStandBehindThem) {
  EXPECT_FALSE(agreement_.add(draft(" And| so| my| fell|ow|"), Hurry::No))
      << "nobody to agree with";
  EXPECT_EQ(agreement_.rest(), " And so my fellow");
  EXPECT_TRUE(agreement_.add(draft(" and| so| my| fell|ow| Americ|ans|"), Hurry::No));
  EXPECT_EQ(agreed(), " and so") << "as the second one has it";
  EXPECT_EQ(agreement_.rest(), " my fellow Americans");
  EXPECT_FALSE(agreement_.add(draft(" and| so| am| I| fell|ow| Americ|ans|"), Hurry::No)) << "am I";
  EXPECT_EQ(agreed(), " and so");
  EXPECT_TRUE(agreement_.add(draft(" and| so| am| I| fell|ow| Americ|ans|,| ask|"), Hurry::No));
  EXPECT_EQ(agreed(), " and so am I");
  agreement_.reset();
  EXPECT_THAT(agreement_.agreed(), IsEmpty());
  EXPECT_EQ(agreement_.rest(), "");
}

TEST_F(DraftAgreementTest, InAHurryTheNextWordIsAgreedOnBeforeMoreStandsBehindIt) {
  agreement_.add(draft(" one| two| three|"), Hurry::No);
  EXPECT_FALSE(agreement_.add(draft(" one| two| three|"), Hurry::No));
  EXPECT_TRUE(agreement_.add(draft(" one| two| three|"), Hurry::Some));
  EXPECT_EQ(agreed(), " one") << "one only";
  EXPECT_TRUE(agreement_.add(draft(" one| two| three|"), Hurry::Most));
  EXPECT_EQ(agreed(), " one two");
  EXPECT_FALSE(agreement_.add(draft(" one| two| three|"), Hurry::Most)) << "the last one may go on";
  EXPECT_FALSE(agreement_.add(draft(" one| two| tree|s|"), Hurry::Most));
}

TEST_F(DraftAgreementTest, AnUnlikelyWordIsAgreedOnWhereSomebodyWaitsForIt) {
  agreement_.add(draft("? some| call| me| nature| others| call|"), Hurry::No);
  EXPECT_FALSE(agreement_.add(draft("? some| call| me| nature| others| call|"), Hurry::No));
  EXPECT_TRUE(agreement_.add(draft("? some| call| me| nature| others| call|"), Hurry::Some));
  EXPECT_EQ(agreed(), " some");
}

TEST_F(DraftAgreementTest, PunctuationBehindAWordIsNoneOfIt) {
  agreement_.add(draft(" Yes|.|"), Hurry::No);
  EXPECT_TRUE(agreement_.add(draft(" yes|,| -| we| do| so| now|"), Hurry::Some));
  EXPECT_EQ(agreed(), " yes,");
  EXPECT_TRUE(agreement_.add(draft(" yes|,| -| we| do| so| now|"), Hurry::No));
  EXPECT_EQ(agreed(), " yes, - we") << "a dash is no word";
}

TEST_F(DraftAgreementTest, WhereNobodyWritesSpacesCharactersAreAgreedOn) {
  agreement_.add(draft("日本|語|が|話|せ|ます|"), Hurry::No);
  EXPECT_TRUE(agreement_.add(draft("日本|語|が|話|せ|ない|"), Hurry::No));
  EXPECT_EQ(agreed(), "日本語が");
}

TEST_F(DraftAgreementTest, HalfACharacterIsNoWord) {
  agreement_.add(draft("日|\xE8\xAA|\x9E|が|話|せ|"), Hurry::No);
  EXPECT_TRUE(agreement_.add(draft("日|\xE8\xAA|\x9E|が|話|せ|"), Hurry::No));
  EXPECT_EQ(agreed(), "日\xE8\xAA\x9E");
}

TEST_F(DraftAgreementTest, SegmentsAreKeptUpToTheLastWordThatIsAgreedOn) {
  agreement_.add(draft(" one| two|/ three| four| five| six|"), Hurry::No);
  ASSERT_TRUE(agreement_.add(draft(" one| two|/ three| four| five| six|"), Hurry::No));
  const std::vector<Segment>& agreed = agreement_.agreed();
  ASSERT_EQ(agreed.size(), 2U);
  EXPECT_TRUE(agreed[0].closing.has_value());
  EXPECT_TRUE(agreed[1].opening.has_value());
  EXPECT_FALSE(agreed[1].closing.has_value());
  EXPECT_EQ(agreed[1].text, " three");
  EXPECT_EQ(agreed[1].tokens.size(), agreed[1].token_log_probabilities.size());
  EXPECT_EQ(agreement_.rest(), " four five six");
}

}  // namespace
}  // namespace mynah
