// The search among vectors finds what a comparison with each of them finds.
#include "talk/memory/vector_index.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tensor/quantize.h"

namespace mynah::talk {
namespace {

using Near = VectorIndex::Near;

// By comparing with each.
std::vector<Near> nearest_of_all(const std::vector<HalfVector>& vectors,
                                 const std::vector<float>& asked, size_t most) {
  std::vector<Near> all;
  for (size_t place = 0; place < vectors.size(); ++place) {
    double sum = 0;
    for (size_t i = 0; i < asked.size(); ++i) {
      sum += double{asked[i]} * double{f16_to_f32(vectors[place][i])};
    }
    all.push_back({.place = place, .product = sum});
  }
  std::ranges::stable_sort(all, std::greater{}, &Near::product);
  all.resize(std::min(all.size(), most));
  return all;
}

void expect_exact(const std::vector<HalfVector>& vectors, const std::vector<float>& asked) {
  VectorIndex index(asked.size());
  for (const HalfVector& vector : vectors) {
    index.add(vector);
  }
  for (const size_t most : {size_t{1}, size_t{10}, vectors.size(), vectors.size() + 1}) {
    const auto found = index.nearest(asked, most, [](size_t) { return true; });
    const auto wanted = nearest_of_all(vectors, asked, most);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(found[i].place, wanted[i].place) << "of " << most << ", number " << i;
      EXPECT_EQ(found[i].product, wanted[i].product);
    }
  }
}

class VectorIndexTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<float> random_vector(size_t width, float length = 1) {
    std::vector<float> vector(width);
    double squares = 0;
    for (float& value : vector) {
      value = normal_(random_);
      squares += double{value} * value;
    }
    for (float& value : vector) {
      value *= length / static_cast<float>(std::sqrt(squares));
    }
    return vector;
  }

  static HalfVector halves(const std::vector<float>& vector) {
    HalfVector made;
    for (const float value : vector) {
      made.push_back(f32_to_f16(value));
    }
    return made;
  }

  std::mt19937 random_{20261130};
  std::normal_distribution<float> normal_;
};

TEST_F(VectorIndexTest, RandomVectorsOfManyWidths) {
  for (const size_t width : {1, 3, 31, 384, 515, 1024, 4096}) {
    std::vector<HalfVector> vectors;
    for (int i = 0; i < 120; ++i) {
      vectors.push_back(halves(random_vector(width)));
    }
    expect_exact(vectors, random_vector(width));
  }
}

TEST_F(VectorIndexTest, NeighboursThatDifferByLessThanACode) {
  const auto middle = random_vector(384);
  std::vector<HalfVector> vectors;
  for (int i = 0; i < 400; ++i) {
    auto near = middle;
    const auto away = random_vector(384, 0.002F);
    for (size_t k = 0; k < near.size(); ++k) {
      near[k] += away[k];
    }
    vectors.push_back(halves(near));
  }
  expect_exact(vectors, middle);
}

TEST_F(VectorIndexTest, LengthsOfAllKindsZeroAndEqualOnes) {
  std::vector<HalfVector> vectors;
  for (const float length : {0.0F, 1e-4F, 1.0F, 300.0F}) {
    for (int i = 0; i < 20; ++i) {
      vectors.push_back(halves(random_vector(48, length)));
      vectors.push_back(vectors.back());
    }
  }
  // One large number, and small ones that its scale rounds away.
  std::vector<float> spike(48, 0.001F);
  spike[7] = 1;
  vectors.push_back(halves(spike));
  expect_exact(vectors, random_vector(48));
  expect_exact(vectors, spike);
  expect_exact(vectors, std::vector<float>(48, 0.0F));
}

TEST_F(VectorIndexTest, WhatIsNotWantedIsNotAmongThem) {
  VectorIndex index(8);
  for (int i = 0; i < 50; ++i) {
    index.add(halves(random_vector(8)));
  }
  const auto found =
      index.nearest(random_vector(8), 50, [](size_t place) { return place % 5 == 0; });
  EXPECT_EQ(found.size(), 10U);
  for (const Near& near : found) {
    EXPECT_EQ(near.place % 5, 0U);
  }
  EXPECT_TRUE(index.nearest(random_vector(8), 0, [](size_t) { return true; }).empty());
  EXPECT_TRUE(VectorIndex(8).nearest(random_vector(8), 5, [](size_t) { return true; }).empty());
}

}  // namespace
}  // namespace mynah::talk
