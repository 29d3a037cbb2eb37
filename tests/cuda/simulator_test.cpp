// The simulation finds what a card would not tell: each mistake once, by name.
#include "backend/cuda/simt/simulator.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/programs/programs.h"
#include "base/thread_pool.h"
#include "cuda/mistakes.h"
#include "tensor/quantize.h"

namespace mynah::simt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kNumbers = 64;
constexpr int kWarpLanes = 32;

// A simulated card with 64 numbers in, and room for as many.
class SimulatorTest : public testing::Test {
 protected:
  Status run(const HostKernel& kernel, uint64_t seed = 0, GridSize grid = {}) {
    Simulator card(pool_, {.seed = seed});
    auto* const x = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
    auto* const out = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
    for (int i = 0; i < kNumbers; ++i) {
      x[i] = static_cast<float>(i);
    }
    const MistakeArgs args{.x = x, .out = out};
    Status status = card.launch(kernel, grid, kNumbers, 0, &args);
    std::copy_n(out, kNumbers, results_.begin());
    return status;
  }

  void expect_mistake(const HostKernel& kernel, const std::string& what) {
    for (const uint64_t seed : {0, 1, 2, 3}) {
      const Status status = run(kernel, seed);
      ASSERT_FALSE(status.has_value()) << kernel.name << ", seed " << seed;
      EXPECT_THAT(status.error().message, HasSubstr(what)) << "seed " << seed;
      EXPECT_THAT(status.error().message, HasSubstr(kernel.name));
    }
  }

  ThreadPool pool_{2};
  std::array<float, kNumbers> results_{};
};

TEST_F(SimulatorTest, RunsWhatIsRightInAnyOrder) {
  for (const uint64_t seed : {0, 1, 2, 3, 4}) {
    const Status status = run(right_sm80, seed);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    for (int i = 0; i < kNumbers; ++i) {
      EXPECT_EQ(results_[static_cast<size_t>(i)], static_cast<float>(kNumbers - 1 - i));
    }
  }
}

TEST_F(SimulatorTest, FindsAccessesOutsideAnAllocation) {
  expect_mistake(reads_past_the_end_sm80,
                 "thread 63 reads 4 bytes at offset 256 of an allocation of 256");
  expect_mistake(writes_before_the_start_sm80, "thread 0 writes 4 bytes at offset -4");
}

TEST_F(SimulatorTest, FindsVectorsThatAreNotAligned) {
  expect_mistake(loads_a_vector_askew_sm80,
                 "thread 0 reads 16 bytes at offset 4, which is no multiple of 16");
}

TEST_F(SimulatorTest, FindsSharedMemoryThatNobodyWrote) {
  expect_mistake(reads_what_nobody_wrote_sm80,
                 "thread 7 reads byte 28 of shared memory, which nobody wrote");
}

TEST_F(SimulatorTest, FindsMissingBarriers) {
  expect_mistake(forgets_the_barrier_sm80, "shared memory");
  expect_mistake(forgets_the_second_barrier_sm80, "with no barrier between");
  expect_mistake(takes_a_warp_for_a_block_sm80, "shared memory");
}

TEST_F(SimulatorTest, FindsBarriersThatNotAllReach) {
  expect_mistake(meets_at_a_barrier_that_some_miss_sm80, "not all reach it");
  expect_mistake(meets_at_two_barriers_sm80, "not all reach it");
}

TEST_F(SimulatorTest, FindsShufflesOfHalfAWarp) {
  expect_mistake(shuffles_in_a_branch_sm80, "not all reach it");
  expect_mistake(shuffles_in_two_branches_sm80, "another lane of its warp");
}

TEST_F(SimulatorTest, FindsTooMuchSharedMemory) {
  expect_mistake(wants_too_much_shared_memory_sm80, "of shared memory more than");
  expect_mistake(writes_past_shared_memory_sm80, "thread 63 writes 4 bytes at offset 256");
}

TEST_F(SimulatorTest, FindsCopiesThatNobodyWaitedFor) {
  expect_mistake(forgets_to_wait_for_a_copy_sm80, "to which a copy is still on its way");
  expect_mistake(forgets_the_barrier_after_a_copy_sm80, "shared memory");
  expect_mistake(copies_over_what_is_read_sm80, "with no barrier between");
  expect_mistake(ends_before_its_copies_sm80, "ends while its copies are on their way");
  expect_mistake(copies_askew_sm80, "which is no multiple of 16");
}

TEST_F(SimulatorTest, CopiesWhileOthersAreRead) {
  const Status status = run(copies_by_turns_sm80);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  for (int i = 0; i < kNumbers; ++i) {
    const bool inside = i < kNumbers / 4 || i >= kNumbers / 2;
    EXPECT_EQ(results_[static_cast<size_t>(i)], inside ? static_cast<float>(i) : 0.0F) << i;
  }
}

TEST_F(SimulatorTest, FindsMatrixUnitsUsedByHalfAWarp) {
  expect_mistake(multiplies_in_a_branch_sm80, "not all reach it");
}

// A and B of small whole numbers, whose products every type has exactly.
class MatrixUnits : public testing::Test {
 protected:
  static constexpr int kRows = 16;
  static constexpr int kColumns = 8;

  // `store(k)` makes an element's bits; `of_word` of them stand in a word, `words` in a row.
  template <class Value, class Store>
  void expect_product(const HostKernel& kernel, int words, int of_word, const Store& store) {
    const int depth = words * of_word;
    const auto a_at = [](int row, int k) { return (row * 5 + k * 3) % 13 - 6; };
    const auto b_at = [](int column, int k) { return (column * 7 + k * 11) % 9 - 4; };
    Simulator card(pool_, {});
    const auto on_card = [&](int rows, const auto& at) {
      auto* const all = reinterpret_cast<uint32_t*>(
          card.allocate(sizeof(uint32_t) * static_cast<size_t>(rows * words)));
      std::fill_n(all, rows * words, 0U);
      for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < depth; ++k) {
          all[row * words + k / of_word] |= static_cast<uint32_t>(store(at(row, k)))
                                            << (k % of_word * (32 / of_word));
        }
      }
      return all;
    };
    auto* const c = reinterpret_cast<Value*>(card.allocate(sizeof(Value) * kRows * kColumns));
    for (int i = 0; i < kRows * kColumns; ++i) {
      c[i] = static_cast<Value>(i);
    }
    const MatrixArgs args{.a = on_card(kRows, a_at), .b = on_card(kColumns, b_at), .c = c};
    const Status status = card.launch(kernel, {}, kWarpLanes, 0, &args);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        int sum = row * kColumns + column;
        for (int k = 0; k < depth; ++k) {
          sum += a_at(row, k) * b_at(column, k);
        }
        EXPECT_EQ(c[row * kColumns + column], static_cast<Value>(sum)) << row << ", " << column;
      }
    }
  }

  ThreadPool pool_{1};
};

TEST_F(MatrixUnits, MultiplyHalfPrecision) {
  expect_product<float>(multiply_f16_sm80, 8, 2,
                        [](int value) { return f32_to_f16(static_cast<float>(value)); });
}

TEST_F(MatrixUnits, MultiplyBfloat16) {
  expect_product<float>(multiply_bf16_sm80, 8, 2,
                        [](int value) { return f32_to_bf16(static_cast<float>(value)); });
}

TEST_F(MatrixUnits, MultiplyCodes) {
  const auto byte = [](int value) { return static_cast<uint8_t>(value); };
  expect_product<int>(multiply_codes_32_sm80, 8, 4, byte);
  expect_product<int>(multiply_codes_16_sm80, 4, 4, byte);
}

// Element i of row r of matrix m is 100 m + 10 r + i.
TEST_F(MatrixUnits, LoadMatricesAsOperands) {
  Simulator card(pool_, {});
  constexpr int kMatrices = 4;
  constexpr int kRow = 8;
  auto* const x = reinterpret_cast<uint16_t*>(
      card.allocate(sizeof(uint16_t) * size_t{kMatrices} * kRow * kRow));
  auto* const out =
      reinterpret_cast<uint32_t*>(card.allocate(sizeof(uint32_t) * size_t{kMatrices} * kWarpLanes));
  const auto element = [](int m, int row, int i) { return 100 * m + 10 * row + i; };
  for (int i = 0; i < kMatrices * kRow * kRow; ++i) {
    x[i] = static_cast<uint16_t>(element(i / kRow / kRow, i / kRow % kRow, i % kRow));
  }
  const LoadArgs args{.x = reinterpret_cast<const F16*>(x), .out = out};
  for (const bool transposed : {false, true}) {
    const HostKernel& kernel =
        transposed ? load_four_matrices_transposed_sm80 : load_four_matrices_sm80;
    const Status status = card.launch(kernel, {}, kWarpLanes, 0, &args);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    for (int m = 0; m < kMatrices; ++m) {
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int g = lane / 4;
        const int two = lane % 4 * 2;
        const int low = transposed ? element(m, two, g) : element(m, g, two);
        const int high = transposed ? element(m, two + 1, g) : element(m, g, two + 1);
        EXPECT_EQ(out[m * kWarpLanes + lane], static_cast<uint32_t>(low | high << 16))
            << "matrix " << m << ", lane " << lane << (transposed ? ", transposed" : "");
      }
    }
  }
}

TEST_F(SimulatorTest, FindsMatricesLoadedWrongly) {
  expect_mistake(loads_matrices_askew_sm80, "which is no multiple of 16");
  expect_mistake(loads_matrices_that_others_write_sm80, "shared memory");
}

// A block that was left in the middle is not used again, and the card still works.
TEST_F(SimulatorTest, GoesOnAfterAMistake) {
  Simulator card(pool_, {});
  auto* const x = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
  auto* const out = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
  std::fill_n(x, kNumbers, 2.0F);
  const MistakeArgs args{.x = x, .out = out};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(card.launch(meets_at_two_barriers_sm80, {.x = 5}, kNumbers, 0, &args).has_value());
    EXPECT_TRUE(card.launch(right_sm80, {.x = 5}, kNumbers, 0, &args).has_value());
    EXPECT_EQ(out[0], 2.0F);
  }
}

TEST_F(SimulatorTest, SaysWhichBlock) {
  const Status status = run(reads_past_the_end_sm80, 0, {.x = 1, .y = 1, .z = 1});
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("kernel reads_past_the_end, block (0, 0, 0)"));
}

// What a card would pay for one warp's access, from the rules of its memory.
TEST(Traffic, CountsSectorsAndWavefronts) {
  const auto count = [](bool shared, uint32_t bytes, uintptr_t stride) {
    std::vector<detail::Access> lanes;
    lanes.reserve(kWarpLanes);
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      lanes.push_back({.address = 1024 + static_cast<uintptr_t>(lane) * stride,
                       .bytes = bytes,
                       .shared = shared});
    }
    Traffic traffic;
    detail::Sectors seen;
    detail::count_request(lanes, traffic, seen);
    EXPECT_EQ(seen.size(), traffic.global_sectors);
    return traffic;
  };
  // Neighbours: 128 bytes in four sectors. Far apart: a sector each. The same: one.
  EXPECT_EQ(count(false, 4, 4).global_sectors, 4U);
  EXPECT_EQ(count(false, 4, 4).coalescing(), 1.0);
  EXPECT_EQ(count(false, 4, 128).global_sectors, 32U);
  EXPECT_EQ(count(false, 4, 128).coalescing(), 0.125);
  EXPECT_EQ(count(false, 4, 0).global_sectors, 1U);
  EXPECT_EQ(count(false, 16, 16).global_sectors, 16U);
  EXPECT_EQ(count(false, 2, 2).global_sectors, 2U);
  // A bank each; all words in one bank; the same word for all; the usual cure, one word of padding.
  EXPECT_EQ(count(true, 4, 4).bank_conflicts(), 1.0);
  EXPECT_EQ(count(true, 4, 128).bank_conflicts(), 32.0);
  EXPECT_EQ(count(true, 4, 0).bank_conflicts(), 1.0);
  EXPECT_EQ(count(true, 4, 132).bank_conflicts(), 1.0);
  EXPECT_EQ(count(true, 4, 8).bank_conflicts(), 2.0);
  // Sixteen bytes each: four parts of eight lanes.
  EXPECT_EQ(count(true, 16, 16).shared_requests, 4U);
  EXPECT_EQ(count(true, 16, 16).bank_conflicts(), 1.0);
  EXPECT_EQ(count(true, 16, 512).bank_conflicts(), 8.0);
}

TEST_F(SimulatorTest, CountsWhatAKernelPays) {
  Simulator card(pool_, {.count_traffic = true});
  auto* const x = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
  auto* const out = reinterpret_cast<float*>(card.allocate(sizeof(float) * kNumbers));
  const MistakeArgs args{.x = x, .out = out};
  ASSERT_TRUE(card.launch(right_sm80, {.x = 3}, kNumbers, 0, &args).has_value());
  const Traffic traffic = card.traffic("right");
  EXPECT_EQ(traffic.blocks, 3U);
  EXPECT_EQ(traffic.barriers, 3U);
  EXPECT_EQ(traffic.global_requests, 3U * 2 * 2);  // blocks, warps, in and out
  EXPECT_EQ(traffic.global_bytes, 3U * 2 * kNumbers * sizeof(float));
  EXPECT_EQ(traffic.global_sectors, traffic.global_bytes / 32);
  EXPECT_EQ(traffic.block_sectors, traffic.global_sectors);  // none is touched twice
  EXPECT_EQ(traffic.shared_requests, 3U * 2 * 2);
  EXPECT_EQ(traffic.shared_wavefronts, traffic.shared_requests);
  EXPECT_EQ(card.traffic("another").blocks, 0U);
}

// The first card that has this group: those of matrix units begin with cards that have such units.
int first_capability_of(std::string_view group) {
  if (!group.starts_with("units_")) {
    return 60;
  }
  return group.ends_with("_f16") || group.starts_with("units_int8") ? 75 : 80;
}

TEST(Programs, EveryCardHasEveryKernel) {
  for (size_t i = 0; i < cuda::kKernelCount; ++i) {
    const auto kernel = static_cast<cuda::KernelId>(i);
    for (const int capability : {60, 61, 70, 75, 80, 86, 89, 90, 100, 120, 121}) {
      const cuda::Program* const program =
          cuda::program_for(cuda::group_of(kernel), cuda::level_for(capability));
      if (capability < first_capability_of(cuda::group_of(kernel))) {
        EXPECT_EQ(program, nullptr) << cuda::group_of(kernel);
        continue;
      }
      ASSERT_NE(program, nullptr) << cuda::group_of(kernel);
      EXPECT_LE(program->level, capability);
      EXPECT_THAT(cuda::text_of(*program),
                  HasSubstr(std::string(".entry ") + std::string(cuda::entry_of(kernel)) + "("));
    }
    EXPECT_EQ(cuda::program_for(cuda::group_of(kernel), 52), nullptr);
  }
}

// Products of four bytes are an instruction from 6.1 on; copies are the same everywhere.
TEST(Programs, ALevelIsThereWhereItHasInstructionsOfItsOwn) {
  const auto found = [](std::string_view group, int level) {
    return cuda::program_for(group, level)->level;
  };
  EXPECT_EQ(found("products_i8", 60), 60);
  EXPECT_EQ(found("products_i8", 61), 61);
  EXPECT_EQ(found("products_i8", 75), 61);
  EXPECT_EQ(found("copies", 61), 60);
  EXPECT_EQ(found("copies", 90), 60);
  EXPECT_EQ(found("units_products_f16", 80), 80);
  EXPECT_EQ(found("units_products_f16", 90), 90);
  EXPECT_EQ(found("units_attention_f16", 90), 80);
}

TEST(Programs, ACardRunsTheHighestLevelThatItHas) {
  EXPECT_EQ(cuda::level_for(52), 0);
  EXPECT_EQ(cuda::level_for(60), 60);
  EXPECT_EQ(cuda::level_for(70), 61);
  EXPECT_EQ(cuda::level_for(75), 75);
  EXPECT_EQ(cuda::level_for(86), 80);
  EXPECT_EQ(cuda::level_for(121), 80);
}

// Warpgroups are one architecture's own, and wait for a driver that knows their PTX.
TEST(Programs, OnlyHopperRunsHoppersLevel) {
  EXPECT_EQ(cuda::level_for(90), 90);
  EXPECT_EQ(cuda::level_for(90, 12000), 90);
  EXPECT_EQ(cuda::level_for(90, 11080), 80);
  EXPECT_EQ(cuda::level_for(89, 11080), 80);
  EXPECT_THAT(cuda::levels_for(90), ElementsAre(60, 61, 75, 80, 90));
  EXPECT_THAT(cuda::levels_for(89), ElementsAre(60, 61, 75, 80));
  EXPECT_THAT(cuda::levels_for(120), ElementsAre(60, 61, 75, 80));
  EXPECT_THAT(cuda::levels_for(52), ElementsAre());
}

// The text says what it is written for: an old driver refuses a newer ISA.
TEST(Programs, AreWrittenInTheIsaOfTheirLevel) {
  for (const cuda::Program& program : cuda::programs()) {
    const int isa = cuda::ptx_isa_of(program.level);
    const std::string text = cuda::text_of(program);
    EXPECT_THAT(text, HasSubstr(".version " + std::to_string(isa / 10) + "." +
                                std::to_string(isa % 10) + "\n"));
    EXPECT_THAT(text, HasSubstr(".target sm_" + std::to_string(program.level) +
                                (program.level == 90 ? "a\n" : "\n")));
  }
}

}  // namespace
}  // namespace mynah::simt
