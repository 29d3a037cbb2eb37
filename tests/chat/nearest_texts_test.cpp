// Texts by how near their vectors are.
#include "chat/nearest_texts.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Field;

TEST(NearestTexts, TheNearestFirstAndOfTheSameTheEarlier) {
  NearestTexts nearest({1, 0}, 3);
  nearest.add(1, "across", std::vector<float>{0, 5});
  nearest.add(2, "along", std::vector<float>{3, 0});
  nearest.add(3, "against", std::vector<float>{-1, 0});
  nearest.add(4, "along, too", std::vector<float>{0.5F, 0});
  nearest.add(5, "between", std::vector<float>{3, 4});
  EXPECT_THAT(nearest.found(), ElementsAre(Field(&NearText::number, 2), Field(&NearText::number, 4),
                                           Field(&NearText::text, "between")));
  EXPECT_THAT(nearest.found().back().cosine, DoubleEq(0.6));
}

TEST(NearestTexts, WhatHasNoDirectionIsNeverNear) {
  NearestTexts nearest({1, 0}, 3);
  nearest.add(1, "nothing", std::vector<float>{0, 0});
  nearest.add(2, "no number", std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 1});
  nearest.add(3, "across", std::vector<float>{0, 1});
  EXPECT_THAT(nearest.found(), ElementsAre(Field(&NearText::text, "across")));
}

}  // namespace
}  // namespace mynah
