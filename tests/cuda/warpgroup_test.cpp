// Warpgroups, mbarriers and bulk copies as the simulation has them: right products, and every
// mistake found.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/simt/simulator.h"
#include "base/thread_pool.h"
#include "cuda/warpgroup_kernel.h"
#include "tensor/quantize.h"

namespace mynah::simt {
namespace {

using testing::HasSubstr;

constexpr int kRows = 64;
constexpr int kColumns = 128;
constexpr int kUnitBytes = 16;

// Small whole numbers, which every type has exactly.
int number(int row, int k) {
  return (row * 7 + k * 5) % 9 - 4;
}

class WarpgroupTest : public testing::Test {
 protected:
  // `rows` in panels of eight: two units of 16 bytes, each of eight rows.
  template <class Store>
  const uint32_t* panels(int rows, int first, const Store& store) {
    constexpr int kOfUnit = kUnitBytes / 2;
    std::byte* const memory = card_.allocate(static_cast<size_t>(rows) * 2 * kUnitBytes);
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < 2 * kOfUnit; ++k) {
        const uint16_t element = store(number(first + row, k));
        const int unit = row / 8 * 2 + k / kOfUnit;
        std::memcpy(memory + (unit * 8 + row % 8) * kUnitBytes + k % kOfUnit * 2, &element,
                    sizeof(element));
      }
    }
    return reinterpret_cast<const uint32_t*>(memory);
  }

  template <class Store>
  std::vector<float> multiply(WarpgroupType type, const Store& store,
                              WarpgroupMistake mistake = WarpgroupMistake::None) {
    constexpr size_t kResults = size_t{kRows} * kColumns;
    std::byte* const c = card_.allocate(kResults * sizeof(float));
    const WarpgroupArgs args{.a = panels(kRows, 0, store),
                             .b = panels(kColumns, 3, store),
                             .c = reinterpret_cast<float*>(c),
                             .type = type,
                             .mistake = mistake};
    status_ = card_.launch(multiply_warpgroup_sm90, {}, kWarpgroupThreads, 0, &args);
    std::vector<float> results(kResults);
    std::memcpy(results.data(), c, kResults * sizeof(float));
    return results;
  }

  template <class Store>
  void expect_product(WarpgroupType type, const Store& store) {
    const std::vector<float> found = multiply(type, store);
    ASSERT_TRUE(status_.has_value()) << status_.error().message;
    constexpr int kDepth = 16;
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        int sum = 0;
        for (int k = 0; k < kDepth; ++k) {
          sum += number(row, k) * number(3 + column, k);
        }
        ASSERT_EQ(found[static_cast<size_t>(row * kColumns + column)], static_cast<float>(2 * sum))
            << row << ", " << column;
      }
    }
  }

  void expect_mistake(WarpgroupMistake mistake, const std::string& what) {
    (void)multiply(WarpgroupType::F16, half, mistake);
    ASSERT_FALSE(status_.has_value()) << what;
    EXPECT_THAT(status_.error().message, HasSubstr(what));
  }

  static uint16_t half(int value) { return f32_to_f16(static_cast<float>(value)); }

  ThreadPool pool_{1};
  Simulator card_{pool_, {.count_traffic = true}};
  Status status_;
};

TEST_F(WarpgroupTest, MultipliesHalves) {
  expect_product(WarpgroupType::F16, half);
}

TEST_F(WarpgroupTest, MultipliesBfloats) {
  expect_product(WarpgroupType::Bf16,
                 [](int value) { return f32_to_bf16(static_cast<float>(value)); });
}

// Two products; each of 4 warps has 16 panels of B. Every byte of either side is moved once.
TEST_F(WarpgroupTest, CountsProductsAndCopies) {
  (void)multiply(WarpgroupType::F16, half);
  const Traffic traffic = card_.traffic("multiply_warpgroup");
  EXPECT_EQ(traffic.matrix_products, 2U * 4 * 16);
  EXPECT_EQ(traffic.global_bytes, (kRows + kColumns) * 2 * kUnitBytes + kRows * kColumns * 4);
}

TEST_F(WarpgroupTest, FindsWhatIsReadBeforeItIsThere) {
  expect_mistake(WarpgroupMistake::ReadsBeforeTheCopy, "of shared memory, ");
}

TEST_F(WarpgroupTest, FindsCopiesOverWhatIsRead) {
  expect_mistake(WarpgroupMistake::CopiesOverWhatIsRead, "of shared memory, ");
}

TEST_F(WarpgroupTest, FindsMbarriersUsedBadly) {
  expect_mistake(WarpgroupMistake::WaitsForNobody, "waits at the mbarrier of line");
  expect_mistake(WarpgroupMistake::ArrivesTooOften, "at which all have arrived");
  expect_mistake(WarpgroupMistake::SharesTheMbarrierAtOnce, "with no barrier between");
  expect_mistake(WarpgroupMistake::UsesWhatIsNoMbarrier, "an mbarrier that nobody made");
}

TEST_F(WarpgroupTest, FindsBadCopies) {
  expect_mistake(WarpgroupMistake::CopiesEightBytes, "copies 8 bytes at once");
  expect_mistake(WarpgroupMistake::EndsBeforeItsCopies, "end while copies are on their way");
}

TEST_F(WarpgroupTest, FindsProductsUsedBadly) {
  expect_mistake(WarpgroupMistake::MultipliesUnprepared, "without begin_products()");
  expect_mistake(WarpgroupMistake::MultipliesOtherMatrices, "other matrices than its warp");
  expect_mistake(WarpgroupMistake::EndsBeforeItsProducts, "while its products are on their way");
}

TEST_F(WarpgroupTest, GivesNoNumbersBeforeProductsAreDone) {
  for (const float sum :
       multiply(WarpgroupType::F16, half, WarpgroupMistake::LooksAtSumsTooEarly)) {
    ASSERT_TRUE(std::isnan(sum));
  }
}

}  // namespace
}  // namespace mynah::simt
