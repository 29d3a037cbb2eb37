// The choice of the next token.

#include <cmath>

#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {

namespace {

bool is_share(float value) {
  return value >= 0.0F && value <= 1.0F;
}

void expect_ranges(const SampleRow& row, int64_t vocabulary) {
  for (const TokenRange& range : {row.first, row.second}) {
    MYNAH_CHECK(range.begin >= 0 && range.begin <= range.end, "[sample] tokens [",
                std::to_string(range.begin), ", ", std::to_string(range.end), ")");
  }
  const TokenRange first = row.first.within(vocabulary);
  const TokenRange second = row.second.within(vocabulary);
  MYNAH_CHECK(first.begin == first.end || second.begin == second.end || first.end <= second.begin,
              "[sample] the second tokens begin at ", std::to_string(second.begin),
              ", the first end at ", std::to_string(first.end));
}

void expect_draw(const SampleRow& row, int32_t top) {
  MYNAH_CHECK(row.temperature >= 0.0F && (row.temperature == 0.0F || top == 1),
              "[sample] one token a row is drawn");
  MYNAH_CHECK(row.uniform >= 0.0F && row.uniform < 1.0F, "[sample] uniform outside [0, 1)");
  MYNAH_CHECK(row.top_k >= 0, "[sample] top_k is ", std::to_string(row.top_k));
  MYNAH_CHECK(is_share(row.typical_p) && is_share(row.top_p) && is_share(row.min_p),
              "[sample] typical_p, top_p and min_p are in [0, 1], got ",
              std::to_string(row.typical_p), ", ", std::to_string(row.top_p), " and ",
              std::to_string(row.min_p));
}

void expect_penalties(const SampleRow& row, std::span<const TokenPenalty> all, int64_t vocabulary) {
  const int64_t end = int64_t{row.penalties_begin} + row.penalties_count;
  MYNAH_CHECK(row.penalties_begin >= 0 && row.penalties_count >= 0 &&
                  end <= static_cast<int64_t>(all.size()),
              "[sample] penalties [", std::to_string(row.penalties_begin), ", ",
              std::to_string(end), ") of ", std::to_string(all.size()));
  int32_t last = -1;
  for (int64_t i = row.penalties_begin; i < end; ++i) {
    const TokenPenalty& penalty = all[static_cast<size_t>(i)];
    MYNAH_CHECK(penalty.token > last && penalty.token < vocabulary,
                "[sample] penalised tokens rise, each at most once, below ",
                std::to_string(vocabulary), ": ", std::to_string(penalty.token), " after ",
                std::to_string(last));
    MYNAH_CHECK(penalty.factor > 0.0F, "[sample] a penalty's factor is above 0, got ",
                std::to_string(penalty.factor));
    MYNAH_CHECK(std::isfinite(penalty.offset) && std::isfinite(penalty.bias),
                "[sample] a penalty's offset is ", std::to_string(penalty.offset), ", its bias ",
                std::to_string(penalty.bias));
    last = penalty.token;
  }
}

void expect_sample(const Backend& backend, const Tensor& logits, const SampleParams& params) {
  expect(backend, "sample", "logits", logits, {"rows", "vocabulary"});
  const int64_t vocabulary = logits.dim(1);
  int64_t masks = 0;
  if (params.masks != nullptr) {
    expect(backend, "sample", "masks", *params.masks, {"n_masks", vocabulary});
    masks = params.masks->dim(0);
  }
  MYNAH_CHECK(static_cast<int64_t>(params.rows.size()) == logits.dim(0), "[sample] ",
              std::to_string(params.rows.size()), " rows for ", logits.shape().str());
  MYNAH_CHECK(params.top >= 1 && params.top <= vocabulary, "[sample] top ",
              std::to_string(params.top), " of ", std::to_string(vocabulary));
  for (const SampleRow& row : params.rows) {
    expect_ranges(row, vocabulary);
    MYNAH_CHECK(masks == 0 || (row.mask >= 0 && row.mask < masks), "[sample] mask ",
                std::to_string(row.mask), " of ", std::to_string(masks));
    expect_draw(row, params.top);
    expect_penalties(row, params.penalties, vocabulary);
  }
}

}  // namespace

SampledTokens sample(Backend& backend, const Tensor& logits, const SampleParams& params) {
  expect_sample(backend, logits, params);
  SampledTokens sampled{empty(backend, {logits.dim(0), params.top}, DType::I32),
                        empty(backend, {logits.dim(0), params.top})};
  sample_into(backend, logits, params, sampled);
  return sampled;
}

void sample_into(Backend& backend, const Tensor& logits, const SampleParams& params,
                 const SampledTokens& out) {
  expect_sample(backend, logits, params);
  expect(backend, "sample", "ids", out.ids, {logits.dim(0), params.top}, DType::I32);
  expect(backend, "sample", "log_probabilities", out.log_probabilities,
         {logits.dim(0), params.top});
  if (out.ids.elements() > 0) {
    backend.sample(logits, params, out.ids, out.log_probabilities);
  }
}

}  // namespace mynah::ops
