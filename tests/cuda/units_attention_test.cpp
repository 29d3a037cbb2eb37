// Attention on matrix units: what the table of operations does not ask of it.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/simt/simulator.h"
#include "backend/ref/ref_backend.h"
#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/ops.h"
#include "tensor/quantize.h"

namespace mynah {

namespace simt {

extern const HostKernel attention_units_f16_64_sm80;
extern const HostKernel attention_units_f16_128_sm80;
extern const HostKernel attention_one_f16_sm80;
extern const HostKernel attention_few_f16_sm80;

}  // namespace simt

namespace {

using cases::normals;

constexpr int64_t kHeads = 6;
constexpr int64_t kHeadDim = 64;
constexpr int64_t kWidth = kHeads * kHeadDim;
// An eighth in powers of two: queries that are numbers of half precision are still such when they
// are scaled.
constexpr float kScale = std::numbers::ln2_v<float> / 8.0F;
// Half a unit in the last place of half precision.
constexpr float kHalfRounding = 0x1p-11F;

// Numbers of half precision.
std::vector<float> halves(int64_t count, uint64_t seed, float scale = 1.0F) {
  std::vector<float> values = normals(count, seed, scale);
  for (float& value : values) {
    value = f16_to_f32(f32_to_f16(value));
  }
  return values;
}

float largest(const std::vector<float>& values) {
  float peak = 0.0F;
  for (const float value : values) {
    peak = std::max(peak, std::fabs(value));
  }
  return peak;
}

Tensor rows(Backend& backend, const std::vector<float>& values) {
  return ops::from_host(backend, values, {static_cast<int64_t>(values.size()) / kWidth, kWidth});
}

class UnitsAttentionTest : public testing::TestWithParam<int> {
 protected:
  KeysValues packed(Backend& backend, int64_t count, uint64_t seed) const {
    return ops::pack_keys_values(backend, rows(backend, halves(count * kWidth, seed)),
                                 rows(backend, halves(count * kWidth, seed + 1)), kHeads,
                                 Precision::Fast);
  }

  // Readers of some keys each.
  std::vector<float> attended(Backend& backend, const std::vector<float>& q,
                              std::span<const Span> queries,
                              const std::vector<const KeysValues*>& keys,
                              const KeysValues* tail = nullptr, int64_t tail_group = 1) const {
    return ops::to_host(backend, ops::attention_packed(backend, rows(backend, q),
                                                       {.heads = kHeads,
                                                        .scale = kScale,
                                                        .queries = queries,
                                                        .keys = keys,
                                                        .tail = tail,
                                                        .tail_group = tail_group}));
  }

  static std::vector<float> rows_of(const std::vector<float>& all, const Span& span) {
    return {all.begin() + span.begin * kWidth, all.begin() + span.end() * kWidth};
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> simulated_ =
      make_simt_backend(pool_, {.level = GetParam(), .seed = 3, .check_shared = false});
  std::unique_ptr<Backend> ref_ = make_ref_backend();
};

// Of what is rounded only the weights are not exact: each is off by half a unit at most. Queries
// are long, so that few keys have most of the weight.
TEST_P(UnitsAttentionTest, AgreesWithRefAtWhispersSizes) {
  constexpr int64_t kQueries = 150;
  constexpr int64_t kPositions = 1500;
  const std::vector<float> q = halves(kQueries * kWidth, 1, 3.0F);
  const std::vector<Span> all = {{0, kQueries}};
  for (const int64_t own : {kPositions, int64_t{280}}) {
    std::vector<std::vector<float>> results;
    for (Backend* const backend : {ref_.get(), simulated_.get()}) {
      const KeysValues keys = packed(*backend, own, 2);
      const KeysValues tail = packed(*backend, kPositions, 7);
      results.push_back(attended(*backend, q, all, {&keys}, own == kPositions ? nullptr : &tail));
    }
    const float peak =
        std::max(largest(halves(kPositions * kWidth, 3)), largest(halves(kPositions * kWidth, 8)));
    const float bound = (kHalfRounding + 8.0F * cases::sum_error(kPositions)) * peak;
    ASSERT_EQ(results[1].size(), results[0].size());
    float worst = 0.0F;
    for (size_t i = 0; i < results[0].size(); ++i) {
      worst = std::max(worst, std::fabs(results[1][i] - results[0][i]));
    }
    EXPECT_LE(worst, bound) << own << " keys of its own";
    EXPECT_GT(largest(results[0]), 100.0F * bound);
  }
}

// Runs of queries of one batch, some of the same keys: each alone gives the same bits, whether it
// is long enough for matrix units or not.
TEST_P(UnitsAttentionTest, ARunGivesTheSameBitsBesideAnyOthers) {
  const std::vector<float> q = halves(248 * kWidth, 1);
  const std::vector<Span> runs = {{0, 40},   {40, 1},   {41, 1},  {42, 17},
                                  {59, 140}, {199, 16}, {215, 33}};
  const KeysValues own = packed(*simulated_, 70, 2);
  const KeysValues other = packed(*simulated_, 210, 4);
  const KeysValues tail = packed(*simulated_, 100, 6);
  const std::vector<const KeysValues*> keys = {&own, &own, &other, &own, &other, &other, &other};
  const std::vector<float> together = attended(*simulated_, q, runs, keys, &tail, 10);
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::vector<Span> alone = {{0, runs[i].length}};
    EXPECT_EQ(attended(*simulated_, rows_of(q, runs[i]), alone, {keys[i]}, &tail, 10),
              rows_of(together, runs[i]))
        << runs[i].length << " queries";
  }
}

// However long a run is and wherever in it a query stands.
TEST_P(UnitsAttentionTest, AQueryGivesTheSameBitsInAnyLongRun) {
  constexpr int64_t kQueries = 180;
  const std::vector<float> q = halves(kQueries * kWidth, 1);
  const KeysValues keys = packed(*simulated_, 300, 2);
  const auto in_runs_of = [&](int64_t length) {
    std::vector<Span> runs;
    for (int64_t begin = 0; begin < kQueries; begin += length) {
      runs.push_back({begin, length});
    }
    return attended(*simulated_, q, runs, std::vector<const KeysValues*>(runs.size(), &keys));
  };
  const std::vector<float> together = in_runs_of(kQueries);
  EXPECT_EQ(in_runs_of(18), together);
  EXPECT_EQ(in_runs_of(90), together);
  // Steps are another kernel's, which multiplies numbers as they are.
  EXPECT_NE(in_runs_of(1), together);
}

// Scores far from zero, of either sign; a query and a key too large for half precision.
TEST_P(UnitsAttentionTest, TakesNumbersOfAnySize) {
  constexpr int64_t kRows = 40;
  std::vector<float> q(kRows * kWidth, 1e6F);
  std::vector<float> k(kRows * kWidth, 0.0F);
  std::fill_n(k.begin() + 7 * kWidth, kWidth, 1.0F);     // seen by all even queries
  std::fill_n(k.begin() + 30 * kWidth, kWidth, -60e3F);  // by all odd ones
  for (int64_t row = 1; row < kRows; row += 2) {
    std::fill_n(q.begin() + row * kWidth, kWidth, -1e6F);
  }
  const std::vector<float> v = halves(kRows * kWidth, 5);
  const KeysValues keys = ops::pack_keys_values(*simulated_, rows(*simulated_, k),
                                                rows(*simulated_, v), kHeads, Precision::Fast);
  const std::vector<Span> all = {{0, kRows}};
  const std::vector<float> given = attended(*simulated_, q, all, {&keys});
  for (int64_t row = 0; row < kRows; ++row) {
    const auto key = row % 2 == 0 ? 7 : 30;
    EXPECT_EQ(rows_of(given, {row, 1}), rows_of(v, {key, 1})) << "query " << row;
  }
}

// simt_levels() that have units.
std::vector<int> levels() {
  std::vector<int> all = simt_levels();
  std::erase_if(all, [](int level) { return level < 75; });
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnitsAttentionTest);
INSTANTIATE_TEST_SUITE_P(Levels, UnitsAttentionTest, testing::ValuesIn(levels()));

// What a card would pay for a block that attends so many lines to `keys` keys, all of f16.
simt::Traffic traffic_of(const simt::HostKernel& kernel, int lines, int columns, int keys,
                         size_t shared_bytes) {
  ThreadPool pool(1);
  simt::Simulator card(pool, {.count_traffic = true});
  const auto numbers = [&]<class T>(int64_t count, T value) {
    auto* const all = reinterpret_cast<T*>(card.allocate(sizeof(T) * static_cast<size_t>(count)));
    std::fill_n(all, count, value);
    return all;
  };
  const uint16_t* const rows_of_keys = numbers(int64_t{keys} * columns, uint16_t{0});
  int32_t* const rows = numbers(lines, int32_t{0});
  std::iota(rows, rows + lines, 0);
  const simt::AttentionTile tile{.keys = rows_of_keys,
                                 .values = rows_of_keys,
                                 .head_stride = 0,
                                 .own = keys,
                                 .tail_first = 0,
                                 .tail = 0,
                                 .seen = keys,
                                 .first_row = 0,
                                 .skip = 0,
                                 .lines = lines,
                                 .first_page = -1};
  simt::AttentionArgs args{};
  args.tiles = numbers(1, tile);
  args.rows = rows;
  args.q = numbers(int64_t{lines} * columns, 0.5F);
  args.q_stride = columns;
  args.out = numbers(int64_t{lines} * columns, 0.0F);
  args.out_stride = columns;
  args.key_stride = columns;
  args.value_stride = columns;
  args.head_dim = columns;
  args.width = columns;
  args.kv_heads = 1;
  args.group = 1;
  args.scale = 1.0F;
  args.segments = 1;
  constexpr int kThreads = 128;
  const Status status = card.launch(kernel, {}, kThreads, shared_bytes, &args);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return card.traffic(kernel.name);
}

// No bank is waited for, no key is moved twice, and each product is needed.
TEST(UnitsAttention, PaysForNothingTwice) {
  constexpr int kKeys = 256;
  for (const int columns : {64, 128}) {
    const int lines = simt::units_lines(columns);
    const simt::Traffic traffic = traffic_of(
        columns == 64 ? simt::attention_units_f16_64_sm80 : simt::attention_units_f16_128_sm80,
        lines, columns, kKeys, 0);
    EXPECT_EQ(traffic.bank_conflicts(), 1.0) << columns;
    EXPECT_GT(traffic.shared_requests, 0U);
    // Two products, of 16 x 8 x 16 each.
    EXPECT_EQ(traffic.matrix_products,
              static_cast<uint64_t>(2 * lines * kKeys * columns / (16 * 8 * 16)));
    // Results are written in halves of sectors.
    EXPECT_GT(traffic.coalescing(), 0.79) << columns;
  }
}

// The same of a step, from level 80 on, but for the weights of several lines, which wait a little
// for each other.
TEST(StepAttention, PaysForNothingTwice) {
  constexpr int kColumns = 64;
  for (const int lines : {1, simt::kFewLines}) {
    constexpr size_t kSlices =
        size_t{simt::kSplitWarps} * simt::split_slices(80) * simt::split_slice_bytes(80);
    const size_t shared = kSlices + sizeof(float) * static_cast<size_t>(lines) * kColumns;
    const simt::Traffic traffic =
        traffic_of(lines == 1 ? simt::attention_one_f16_sm80 : simt::attention_few_f16_sm80, lines,
                   kColumns, simt::kSegmentKeys, shared);
    EXPECT_LT(traffic.bank_conflicts(), lines == 1 ? 1.005 : 1.08) << lines;
    EXPECT_GT(traffic.coalescing(), 0.97) << lines;
  }
}

}  // namespace
}  // namespace mynah
