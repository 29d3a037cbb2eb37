// An utterance alone gives the same bits as in a shuffled ragged batch of eight.
#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "ops/backends.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

constexpr std::array<int64_t, 8> kLengths = {1, 7, 16, 33, 2, 40, 13, 64};
constexpr std::array<size_t, 8> kShuffled = {5, 2, 7, 0, 3, 6, 1, 4};

// An operation over the packed rows of utterances.
using BatchOp = std::function<Tensor(const Tensor& x, const Lengths& lengths)>;

class BatchTest : public testing::TestWithParam<std::string> {
 protected:
  BatchTest()
      : backend_(GetParam() == "ref" ? make_ref_backend() : make_backend(GetParam(), pool_)) {}

  // Rows of utterance u.
  static std::vector<float> rows_of(size_t u, int64_t d) {
    return normals(kLengths[u] * d, 100 + u);
  }

  // Width `d` of the rows; compares bit for bit.
  void expect_alone_as_in_batch(int64_t d, const BatchOp& op) {
    std::vector<float> packed;
    Lengths lengths;
    for (const size_t u : kShuffled) {
      const std::vector<float> rows = rows_of(u, d);
      packed.insert(packed.end(), rows.begin(), rows.end());
      lengths.add(kLengths[u]);
    }
    const Tensor x = ops::from_host(*backend_, packed, {lengths.total(), d});
    const std::vector<float> batch = ops::to_host(*backend_, op(x, lengths));
    size_t at = 0;
    for (const size_t u : kShuffled) {
      const Tensor own = ops::from_host(*backend_, rows_of(u, d), {kLengths[u], d});
      const std::vector<float> alone = ops::to_host(*backend_, op(own, Lengths{kLengths[u]}));
      ASSERT_LE(at + alone.size(), batch.size());
      const auto in_batch = std::span(batch).subspan(at, alone.size());
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(alone)), std::as_bytes(in_batch)))
          << "utterance of " << kLengths[u] << " rows";
      at += alone.size();
    }
    EXPECT_EQ(at, batch.size());
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
};

TEST_P(BatchTest, LinearOfEveryWeightType) {
  constexpr int64_t kWidth = 256;
  std::vector<DType> types(weight_types().begin(), weight_types().end());
  types.push_back(DType::I16);
  for (const DType dtype : types) {
    if (!backend_->supports_weight(dtype)) {
      continue;
    }
    const bool rounded = dtype == DType::I8 || dtype == DType::I16;
    const LinearWeight w = ops::pack_linear(
        *backend_, host_tensor({65, kWidth}, rounded ? DType::F32 : dtype, 1), dtype);
    for (const Precision precision : {Precision::Exact, Precision::Close, Precision::Fast}) {
      SCOPED_TRACE(std::string(name(dtype)));
      expect_alone_as_in_batch(kWidth, [&](const Tensor& x, const Lengths&) {
        return ops::linear(*backend_, x, w, {.precision = precision});
      });
    }
  }
}

TEST_P(BatchTest, Conv1dOfEveryKind) {
  struct Kind {
    int64_t kernel, stride, left, right, dilation, groups;
  };

  for (const Kind& k :
       {Kind{3, 1, 1, 1, 1, 1}, {3, 2, 1, 1, 1, 1}, {5, 1, 4, 0, 2, 1}, {3, 1, 1, 1, 1, 16}}) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
      const LinearWeight w = ops::pack_conv1d(
          *backend_, host_tensor({32, 16 / k.groups, k.kernel}, DType::F32, 1), dtype, k.groups);
      Conv1dParams params;
      params.kernel = k.kernel;
      params.stride = k.stride;
      params.padding_left = k.left;
      params.padding_right = k.right;
      params.dilation = k.dilation;
      params.groups = k.groups;
      params.precision = dtype == DType::F32 ? Precision::Exact : Precision::Fast;
      expect_alone_as_in_batch(16, [&](const Tensor& x, const Lengths& lengths) {
        return ops::conv1d(*backend_, x, lengths, w, params);
      });
    }
  }
}

TEST_P(BatchTest, NormedConv1d) {
  constexpr int64_t kIn = 24;
  constexpr int64_t kOut = 40;
  const Tensor gamma = ops::from_host(*backend_, normals(kIn, 1), {1, kIn});
  const Tensor beta = ops::from_host(*backend_, normals(kIn, 2), {1, kIn});
  const Tensor alpha = ops::exp(*backend_, ops::from_host(*backend_, normals(kIn, 3), {kIn}));
  for (const DType dtype : {DType::F32, DType::BF16, DType::I8}) {
    const LinearWeight w = ops::pack_conv1d(
        *backend_, host_tensor({kOut, kIn, 7}, dtype == DType::I8 ? DType::F32 : dtype, 4), dtype);
    expect_alone_as_in_batch(kIn, [&](const Tensor& x, const Lengths& lengths) {
      // Each utterance has the same gamma and beta.
      const std::vector<int32_t> rows(static_cast<size_t>(lengths.count()), 0);
      const Tensor each = ops::from_host(*backend_, std::span(rows), {lengths.count()});
      const Tensor factors =
          ops::instance_factors(*backend_, x, lengths, ops::gather_rows(*backend_, gamma, each),
                                ops::gather_rows(*backend_, beta, each));
      const Conv1dInput input{.factors = &factors, .alpha = &alpha};
      return ops::conv1d(*backend_, x, lengths, w,
                         {.kernel = 7,
                          .padding_left = 9,
                          .padding_right = 9,
                          .dilation = 3,
                          .input = &input,
                          .precision = Precision::Fast});
    });
  }
}

TEST_P(BatchTest, TransposedConv1dOfEveryKind) {
  for (const ConvTranspose1dSizes& sizes :
       {ConvTranspose1dSizes{.kernel = 20, .stride = 10, .padding = 5},
        {.kernel = 4, .stride = 2, .padding = 1},
        {.kernel = 3, .stride = 2, .padding = 1, .output_padding = 1, .groups = 32}}) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
      SCOPED_TRACE(sizes.str() + " " + std::string(name(dtype)));
      const ConvTranspose1dWeight w = ops::pack_conv_transpose1d(
          *backend_, host_tensor({32, 32 / sizes.groups, sizes.kernel}, DType::F32, 1), nullptr,
          dtype, sizes);
      expect_alone_as_in_batch(32, [&](const Tensor& x, const Lengths& lengths) {
        return ops::conv_transpose1d(
            *backend_, x, lengths, w,
            {.precision = dtype == DType::F32 ? Precision::Exact : Precision::Fast});
      });
    }
  }
}

TEST_P(BatchTest, CausalSelfAttention) {
  for (const Precision precision : {Precision::Exact, Precision::Fast}) {
    expect_alone_as_in_batch(128, [&](const Tensor& x, const Lengths& lengths) {
      return ops::attention(*backend_, x, x, x,
                            {.heads = 2,
                             .kv_heads = 2,
                             .scale = 0.125F,
                             .causal = true,
                             .queries = lengths.spans(),
                             .keys = lengths.spans(),
                             .precision = precision});
    });
  }
}

TEST_P(BatchTest, PackedAttentionWithAndWithoutCachedSilence) {
  constexpr int64_t kWidth = 128;
  const Tensor silence = ops::from_host(*backend_, normals(50 * kWidth, 9), {50, kWidth});
  for (const Precision precision : {Precision::Exact, Precision::Fast}) {
    const KeysValues tail = ops::pack_keys_values(*backend_, silence, silence, 2, precision);
    for (const bool cached : {false, true}) {
      expect_alone_as_in_batch(kWidth, [&](const Tensor& x, const Lengths& lengths) {
        std::vector<KeysValues> packed;
        std::vector<const KeysValues*> keys;
        packed.reserve(lengths.spans().size());
        for (const Span& span : lengths.spans()) {
          const Tensor rows = x.narrow(0, span.begin, span.length);
          packed.push_back(ops::pack_keys_values(*backend_, rows, rows, 2, precision));
          keys.push_back(&packed.back());
        }
        return ops::attention_packed(*backend_, x,
                                     {.heads = 2,
                                      .scale = 0.125F,
                                      .queries = lengths.spans(),
                                      .keys = keys,
                                      .tail = cached ? &tail : nullptr});
      });
    }
  }
}

TEST_P(BatchTest, PromptsOverHalfPrecisionKeys) {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    expect_alone_as_in_batch(128, [&](const Tensor& x, const Lengths& lengths) {
      const Tensor cache = ops::cast(*backend_, x, dtype);
      return ops::attention(*backend_, x, cache, cache,
                            {.heads = 2,
                             .kv_heads = 2,
                             .scale = 0.125F,
                             .causal = true,
                             .queries = lengths.spans(),
                             .keys = lengths.spans(),
                             .precision = Precision::Fast});
    });
  }
}

TEST_P(BatchTest, DecoderStepsOverHalfPrecisionKeys) {
  constexpr int64_t kWidth = 192;
  expect_alone_as_in_batch(kWidth, [&](const Tensor& x, const Lengths& lengths) {
    const Tensor cache = ops::cast(*backend_, x, DType::F16);
    // One query an utterance: its last row.
    std::vector<int32_t> last;
    Lengths queries;
    for (const Span& span : lengths.spans()) {
      last.push_back(static_cast<int32_t>(span.end() - 1));
      queries.add(1);
    }
    const Tensor rows = ops::from_host(*backend_, last, {lengths.count()});
    const Tensor q = ops::gather_rows(*backend_, x, rows);
    return ops::attention(*backend_, q, cache, cache,
                          {.heads = 3,
                           .kv_heads = 3,
                           .scale = 0.125F,
                           .causal = true,
                           .queries = queries.spans(),
                           .keys = lengths.spans()});
  });
}

TEST_P(BatchTest, LstmInBothDirections) {
  constexpr int64_t kHidden = 32;
  const LinearWeight w_ih =
      ops::pack_linear(*backend_, host_tensor({4 * kHidden, 24}, DType::F32, 1, 0.2F), DType::F32);
  const LinearWeight w_hh = ops::pack_linear(
      *backend_, host_tensor({4 * kHidden, kHidden}, DType::F32, 2, 0.2F), DType::F32);
  const Tensor bias = ops::from_host(*backend_, normals(4 * kHidden, 3), {4 * kHidden});
  for (const bool reverse : {false, true}) {
    expect_alone_as_in_batch(24, [&](const Tensor& x, const Lengths& lengths) {
      const Tensor h = ops::zeros(*backend_, {lengths.count(), kHidden});
      const Tensor c = ops::zeros(*backend_, {lengths.count(), kHidden});
      return ops::lstm(*backend_, x, lengths, w_ih, w_hh, bias, {.reverse = reverse}, h, c);
    });
  }
}

TEST_P(BatchTest, NormsDistributionsAndActivations) {
  constexpr int64_t kWidth = 80;
  const Tensor gamma = ops::from_host(*backend_, normals(kWidth, 1), {kWidth});
  const Tensor beta = ops::from_host(*backend_, normals(kWidth, 2), {kWidth});
  expect_alone_as_in_batch(kWidth, [&](const Tensor& x, const Lengths&) {
    return ops::layer_norm(*backend_, x, gamma, beta);
  });
  expect_alone_as_in_batch(
      kWidth, [&](const Tensor& x, const Lengths&) { return ops::softmax(*backend_, x); });
  expect_alone_as_in_batch(
      kWidth, [&](const Tensor& x, const Lengths&) { return ops::gelu(*backend_, x); });
}

TEST_P(BatchTest, LogMel) {
  constexpr int64_t kBins = 33;
  constexpr int64_t kHop = 20;  // samples of a row of the batch: each row gives a frame
  std::vector<float> weights = normals(10 * kBins, 1);
  std::ranges::transform(weights, weights.begin(), [](float w) { return w * w; });
  const Tensor filters = ops::from_host(*backend_, weights, {10, kBins});
  expect_alone_as_in_batch(kHop, [&](const Tensor& x, const Lengths& lengths) {
    Lengths samples;
    for (const Span& span : lengths.spans()) {
      samples.add(span.length * kHop);
    }
    return ops::log_mel(*backend_, x.reshape({x.elements()}),
                        {.n_fft = 64,
                         .hop = kHop,
                         .filters = &filters,
                         .samples = samples.spans(),
                         .frames = lengths.spans()});
  });
}

TEST_P(BatchTest, SampledTokens) {
  const SampleRow row{.first = {0, 60}, .second = {70, 101}, .prefer_second = true};
  expect_alone_as_in_batch(101, [&](const Tensor& x, const Lengths& lengths) {
    std::vector<SampleRow> rows(static_cast<size_t>(lengths.total()), row);
    std::vector<TokenPenalty> penalties;
    for (SampleRow& each : rows) {
      each.penalties_begin = static_cast<int32_t>(penalties.size());
      for (const int32_t token : {4, 5, 31, 100}) {
        penalties.push_back({.token = token, .factor = 1.5F});
      }
      each.penalties_count = 4;
    }
    return ops::sample(*backend_, x, {.rows = rows, .penalties = penalties, .top = 3})
        .log_probabilities;
  });
}

std::vector<std::string> all_backends() {
  std::vector<std::string> names = backends_under_test();
  names.insert(names.begin(), "ref");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, BatchTest, testing::ValuesIn(all_backends()),
                         [](const testing::TestParamInfo<std::string>& subject) {
                           std::string name = subject.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace mynah::cases
