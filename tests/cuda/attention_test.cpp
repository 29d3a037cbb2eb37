// What the table of operations does not ask of attention's kernels: that all of them give a query
// the same bits, heads as wide as they take, positions far out.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah {
namespace {

using cases::normals;

constexpr int64_t kQueries = 40;
constexpr int64_t kKeys = 300;  // three segments, the last one with a tile that is not full

// Heads of `d` columns, two of q for one of the keys.
struct Heads {
  int64_t d;

  [[nodiscard]] AttentionParams params(std::span<const Span> queries, std::span<const Span> keys,
                                       bool causal = false) const {
    return {.heads = 2,
            .kv_heads = 1,
            .scale = 1.0F / std::sqrt(static_cast<float>(d)),
            .causal = causal,
            .queries = queries,
            .keys = keys};
  }
};

struct Subject {
  int64_t d;
  int level;
};

class CudaAttentionTest : public testing::TestWithParam<Subject> {
 protected:
  static Tensor rows(Backend& backend, int64_t count, int64_t columns, uint64_t seed) {
    return ops::from_host(backend, normals(count * columns, seed), {count, columns});
  }

  // kQueries queries over the same keys, so many of them a reader.
  static std::vector<float> attended(Backend& backend, int64_t d, DType type, int64_t at_once) {
    const Tensor q = rows(backend, kQueries, 2 * d, 1);
    const Tensor k = ops::cast(backend, rows(backend, kKeys, d, 2), type);
    const Tensor v = ops::cast(backend, rows(backend, kKeys, d, 3), type);
    std::vector<Span> queries;
    for (int64_t i = 0; i < kQueries; i += at_once) {
      queries.push_back({i, at_once});
    }
    const std::vector<Span> keys(queries.size(), {0, kKeys});
    return ops::to_host(backend, ops::attention(backend, q, k, v, Heads{d}.params(queries, keys)));
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> simulated_ =
      make_simt_backend(pool_, {.level = GetParam().level, .seed = 3});
  std::unique_ptr<Backend> ref_ = make_ref_backend();
};

TEST_P(CudaAttentionTest, AQueryGivesTheSameBitsBesideAnyOthers) {
  for (const DType type : {DType::F32, DType::F16}) {
    const std::vector<float> together = attended(*simulated_, GetParam().d, type, kQueries);
    EXPECT_EQ(attended(*simulated_, GetParam().d, type, 1), together) << name(type);
    EXPECT_EQ(attended(*simulated_, GetParam().d, type, 8), together) << name(type);
  }
}

TEST_P(CudaAttentionTest, WideHeadsAgreeWithRef) {
  for (const int64_t at_once : {int64_t{1}, kQueries}) {
    const std::vector<float> wanted = attended(*ref_, GetParam().d, DType::BF16, at_once);
    const std::vector<float> given = attended(*simulated_, GetParam().d, DType::BF16, at_once);
    ASSERT_EQ(given.size(), wanted.size());
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_NEAR(given[i], wanted[i], 4e-6F) << "element " << i << ", " << at_once << " at once";
    }
  }
}

// A query that comes first and sees few keys is computed by the step's kernel, and later by the
// prompt's.
TEST_P(CudaAttentionTest, APromptGivesTheBitsOfItsSteps) {
  const int64_t d = GetParam().d;
  const Tensor q = rows(*simulated_, kQueries, 2 * d, 1);
  const Tensor k = rows(*simulated_, kQueries, d, 2);
  const std::vector<Span> all = {{0, kQueries}};
  const std::vector<float> prompt = ops::to_host(
      *simulated_, ops::attention(*simulated_, q, k, k, Heads{d}.params(all, all, true)));
  std::vector<Span> queries;
  std::vector<Span> keys;
  for (int64_t i = 0; i < kQueries; ++i) {
    queries.push_back({i, 1});
    keys.push_back({0, i + 1});
  }
  EXPECT_EQ(ops::to_host(*simulated_, ops::attention(*simulated_, q, k, k,
                                                     Heads{d}.params(queries, keys, true))),
            prompt);
}

// Tokens of a text that are checked at once, with many heads of q for one of the keys.
TEST_P(CudaAttentionTest, GuessedTokensGiveTheBitsOfTheirSteps) {
  constexpr int64_t kGuessed = 7;
  constexpr int64_t kHeads = 8;
  constexpr int32_t kPage = 16;
  const int64_t d = GetParam().d;
  std::vector<int32_t> pages;
  for (int32_t page = (kKeys + kPage - 1) / kPage; page > 0; --page) {
    pages.push_back(page - 1);
  }
  const int64_t stored = std::ssize(pages) * kPage;
  const Tensor q = rows(*simulated_, kGuessed, kHeads * d, 1);
  const Tensor k = ops::cast(*simulated_, rows(*simulated_, stored, d, 2), DType::F16);
  const Tensor v = ops::cast(*simulated_, rows(*simulated_, stored, d, 3), DType::F16);
  const auto attended = [&](std::span<const Span> queries, std::span<const Span> keys) {
    AttentionParams params = Heads{d}.params(queries, keys, true);
    params.heads = kHeads;
    std::vector<int32_t> table;
    for (size_t i = 0; i < queries.size(); ++i) {
      table.insert(table.end(), pages.begin(), pages.end());
    }
    params.pages = {.rows = kPage, .pages = table};
    return ops::to_host(*simulated_, ops::attention(*simulated_, q, k, v, params));
  };
  const std::vector<Span> all = {{0, kGuessed}};
  const std::vector<Span> seen = {{0, kKeys}};
  std::vector<Span> queries;
  std::vector<Span> keys;
  for (int64_t i = 0; i < kGuessed; ++i) {
    queries.push_back({i, 1});
    keys.push_back({i * stored, kKeys - kGuessed + i + 1});
  }
  EXPECT_EQ(attended(queries, keys), attended(all, seen));
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  // The levels that have programs of their own.
  for (const int level : simt_levels()) {
    if (level != 61 && level != 80) {
      continue;
    }
    for (const int64_t d : {64, 128, 256}) {
      all.push_back({d, level});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(HeadDim, CudaAttentionTest, testing::ValuesIn(subjects()),
                         [](const testing::TestParamInfo<Subject>& subject) {
                           return std::to_string(subject.param.d) + "_sm_" +
                                  std::to_string(subject.param.level);
                         });

}  // namespace
}  // namespace mynah
