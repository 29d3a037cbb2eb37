// Joins by a queue are those that looking at every pair gives, in few looks.
#include "text/pair_joins.h"

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mynah {
namespace {

// Joins of a made-up vocabulary over letters: two of the ids make a third, the lower sum first.
PairJoin made_up(const JoinPart& left, const JoinPart& right) {
  const int32_t sum = left.id * 3 + right.id * 5;
  return {.order = static_cast<uint32_t>(sum % 17), .id = sum % 7 < 4 ? sum % 61 : -1};
}

// By the definition: the least order, the leftmost of these, until none is left.
std::vector<JoinPart> joined_by_definition(std::vector<JoinPart> parts) {
  for (;;) {
    size_t best = parts.size();
    PairJoin join;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const PairJoin other = made_up(parts[i], parts[i + 1]);
      if (other.id >= 0 && (best == parts.size() || other.order < join.order)) {
        best = i;
        join = other;
      }
    }
    if (best == parts.size()) {
      return parts;
    }
    parts[best] = {.begin = parts[best].begin, .end = parts[best + 1].end, .id = join.id};
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

TEST(PairJoins, AreThoseOfTheDefinition) {
  std::mt19937 random(1);
  PairJoins joins;
  std::vector<uint32_t> lengths(200);
  std::iota(lengths.begin(), lengths.end(), 0U);
  lengths.push_back(5000);  // several windows
  for (const uint32_t length : lengths) {
    std::vector<JoinPart> parts;
    joins.clear();
    for (uint32_t i = 0; i < length; ++i) {
      parts.push_back({.begin = i, .end = i + 1, .id = static_cast<int32_t>(random() % 61)});
      joins.add(parts.back());
    }
    const auto found = joins.join(made_up);
    const auto wanted = joined_by_definition(parts);
    ASSERT_EQ(found.size(), wanted.size()) << length;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(found[i].begin, wanted[i].begin);
      EXPECT_EQ(found[i].end, wanted[i].end);
      EXPECT_EQ(found[i].id, wanted[i].id);
    }
  }
}

// The first window of the longest has nothing but one part, which tells nothing of the next.
TEST(PairJoins, AskThreeTimesAPart) {
  for (const uint32_t length : {2U, 20U, 24U, 25U, 1000U, 100000U}) {
    size_t asked = 0;
    PairJoins joins;
    for (uint32_t i = 0; i < length; ++i) {
      joins.add({.begin = i, .end = i + 1, .id = 0});
    }
    // Runs of one letter whose every double is a token, the longest last.
    (void)joins.join([&](const JoinPart& left, const JoinPart& right) {
      ++asked;
      const bool alike = left.id == right.id;
      return PairJoin{.order = static_cast<uint32_t>(left.id), .id = alike ? left.id + 1 : -1};
    });
    EXPECT_LE(asked, 3 * (length + 2048)) << length;
  }
}

}  // namespace
}  // namespace mynah
