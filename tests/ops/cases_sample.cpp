// Rows of the table: the choice of the next token.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

// A small vocabulary laid out as Whisper's: text, end of transcript, special tokens, timestamps.
constexpr int32_t kText = 60;
constexpr int32_t kEnd = kText;  // the end of transcript stands right after the text
constexpr int32_t kTimestamps = 70;
constexpr int32_t kVocabulary = 101;

SampleRow any_token() {
  return {.first = {0, kEnd + 1}, .second = {kTimestamps, kVocabulary}};
}

// Penalties of row `i` of the logits.
using PenaltiesOf = std::function<std::vector<TokenPenalty>(int64_t i)>;

struct CaseRow {
  const char* what;
  SampleRow sample;
  int32_t top = 1;
  float timestamp_bias = 0.0F;  // added to the timestamps' logits
  float spread = 4.0F;
  bool masks = false;
  bool bad = false;                 // some logits of the first row and all of the second are NaN
  bool infinite = false;            // some are -infinity
  PenaltiesOf penalties = nullptr;  // null: none
};

// Tokens `first` and then each `step`-th, from another one on in each row, and
// none in the third: a row without penalties between others.
PenaltiesOf each_of(int32_t first, int32_t step, float penalty) {
  return [=](int64_t i) {
    std::vector<TokenPenalty> penalties;
    for (auto token = static_cast<int32_t>(first + i); token < kVocabulary && i != 2;
         token += step) {
      penalties.push_back({.token = token, .factor = penalty});
    }
    return penalties;
  };
}

// Text and timestamps, of which every third never comes.
std::vector<TokenPenalty> all_tokens(float penalty) {
  std::vector<TokenPenalty> penalties;
  penalties.reserve(kVocabulary);
  for (int32_t token = 0; token < kVocabulary; ++token) {
    penalties.push_back(
        {.token = token, .factor = token % 3 == 1 ? TokenPenalty::kNever : penalty});
  }
  return penalties;
}

// Every third token less by an offset, after a factor where its number is even; and the one after
// it more.
std::vector<TokenPenalty> offset_tokens(int64_t row) {
  std::vector<TokenPenalty> penalties;
  for (auto token = static_cast<int32_t>(row); token + 1 < kVocabulary; token += 3) {
    penalties.push_back({.token = token,
                         .factor = token % 2 == 0 ? 1.3F : 1.0F,
                         .offset = 0.5F + 0.25F * static_cast<float>(token % 4)});
    penalties.push_back({.token = token + 1, .offset = -1.5F});
  }
  return penalties;
}

CaseRow row_of(const char* what, const std::function<void(CaseRow&)>& change) {
  CaseRow row{.what = what, .sample = any_token()};
  change(row);
  return row;
}

std::vector<CaseRow> plain_rows() {
  std::vector<CaseRow> rows;
  const auto add = [&](const char* what, const std::function<void(CaseRow&)>& change) {
    rows.push_back(row_of(what, change));
  };
  add("anything", [](CaseRow&) {});
  add("the best five", [](CaseRow& r) { r.top = 5; });
  add("suppressed tokens", [](CaseRow& r) { r.masks = true; });
  add("suppressed by the second mask", [](CaseRow& r) {
    r.masks = true;
    r.sample.mask = 1;
    r.top = 3;
  });
  add("timestamps only", [](CaseRow& r) { r.sample.first = {}; });
  add("no timestamps", [](CaseRow& r) { r.sample.second = {}; });
  add("timestamps from a time on", [](CaseRow& r) {
    r.sample.first = {};
    r.sample.second.begin = 90;
    r.top = 2;
  });
  add("the end or a timestamp", [](CaseRow& r) {
    r.sample.first.begin = kEnd;
    r.top = 4;
  });
  add("the end only", [](CaseRow& r) {
    r.sample.first.begin = kEnd;
    r.sample.second = {};
  });
  add("timestamps together likelier than any text", [](CaseRow& r) {
    r.sample.prefer_second = true;
    r.spread = 0.5F;
    r.timestamp_bias = 0.5F;
    r.top = 3;
  });
  add("text likelier than all timestamps", [](CaseRow& r) {
    r.sample.prefer_second = true;
    r.timestamp_bias = -30.0F;
  });
  add("timestamps preferred and none allowed", [](CaseRow& r) {
    r.sample.prefer_second = true;
    r.sample.second = {};
  });
  add("more wanted than allowed", [](CaseRow& r) {
    r.sample.first.begin = kEnd - 1;
    r.sample.second.end = kTimestamps + 1;
    r.top = 5;
  });
  add("NaN among the logits", [](CaseRow& r) { r.bad = true; });
  add("nothing allowed", [](CaseRow& r) {
    r.sample.first = {};
    r.sample.second = {};
    r.top = 2;
  });
  return rows;
}

std::vector<CaseRow> penalised_rows() {
  std::vector<CaseRow> rows;
  const auto add = [&](const char* what, const std::function<void(CaseRow&)>& change) {
    rows.push_back(row_of(what, change));
    rows.back().top = 5;
  };
  add("every second penalised", [](CaseRow& r) { r.penalties = each_of(0, 2, 1.3F); });
  add("the likeliest of those penalised", [](CaseRow& r) {
    r.penalties = each_of(0, 1, 1.7F);
    r.top = 1;
  });
  add("some likelier by a penalty below 1", [](CaseRow& r) { r.penalties = each_of(3, 7, 0.6F); });
  add("every second never comes",
      [](CaseRow& r) { r.penalties = each_of(1, 2, TokenPenalty::kNever); });
  add("suppressed tokens penalised", [](CaseRow& r) {
    r.masks = true;
    r.penalties = each_of(0, 2, 1.3F);
  });
  add("suppressed tokens never come", [](CaseRow& r) {
    r.masks = true;
    r.penalties = each_of(0, 2, TokenPenalty::kNever);
  });
  add("one never comes",
      [](CaseRow& r) { r.penalties = each_of(17, kVocabulary, TokenPenalty::kNever); });
  add("the last token penalised",
      [](CaseRow& r) { r.penalties = each_of(kVocabulary - 4, kVocabulary, 40.0F); });
  add("tokens that may not come penalised", [](CaseRow& r) {
    r.sample.first = {};
    r.sample.second.begin = 90;
    r.penalties = each_of(0, 3, 1.3F);
  });
  add("every token penalised or never coming",
      [](CaseRow& r) { r.penalties = [](int64_t) { return all_tokens(1.3F); }; });
  add("no token comes",
      [](CaseRow& r) { r.penalties = [](int64_t) { return all_tokens(TokenPenalty::kNever); }; });
  add("every third less by its count, the next likelier",
      [](CaseRow& r) { r.penalties = [](int64_t i) { return offset_tokens(i); }; });
  add("NaN and -infinity penalised", [](CaseRow& r) {
    r.bad = true;
    r.infinite = true;
    r.penalties = each_of(0, 1, 1.3F);
  });
  add("penalised timestamps together not as likely as text", [](CaseRow& r) {
    r.sample.prefer_second = true;
    r.spread = 0.5F;
    r.timestamp_bias = 0.5F;
    r.penalties = each_of(kTimestamps, 1, TokenPenalty::kNever);
  });
  add("penalised text not as likely as all timestamps", [](CaseRow& r) {
    r.sample.prefer_second = true;
    r.timestamp_bias = 3.0F;
    r.penalties = each_of(0, 1, 2.0F);
  });
  return rows;
}

constexpr int64_t kSampleRows = 4;

std::vector<float> logits_of(const CaseRow& row) {
  std::vector<float> logits = normals(kSampleRows * kVocabulary, 11, row.spread);
  for (int64_t i = 0; i < kSampleRows; ++i) {
    for (int64_t id = kTimestamps; id < kVocabulary; ++id) {
      logits[static_cast<size_t>(i * kVocabulary + id)] += row.timestamp_bias;
    }
  }
  for (int64_t id = 0; row.bad && id < 2 * kVocabulary; ++id) {
    if (id % 5 == 2 || id >= kVocabulary) {
      logits[static_cast<size_t>(id)] = NAN;
    }
  }
  for (size_t id = 0; row.infinite && id < logits.size(); id += 4) {
    logits[id] = -INFINITY;
  }
  return logits;
}

// As the part of `all` that `row` names.
void add_penalties(const std::vector<TokenPenalty>& penalties, SampleRow& row,
                   std::vector<TokenPenalty>& all) {
  row.penalties_begin = static_cast<int32_t>(all.size());
  row.penalties_count = static_cast<int32_t>(penalties.size());
  all.insert(all.end(), penalties.begin(), penalties.end());
}

OpCase case_of(const CaseRow& row) {
  OpCase c;
  c.op = "sample";
  c.name = row.what;
  c.prepare = [row](Backend& backend) -> Step {
    const Tensor logits =
        matrix(backend, logits_of(row), kSampleRows, kVocabulary, Layout::Strided);
    std::vector<float> mask(2 * kVocabulary, 0.0F);
    for (int64_t i = 0; i < 2 * kVocabulary; i += 3) {
      mask[static_cast<size_t>(i)] = -INFINITY;
    }
    const Tensor masks = ops::from_host(backend, mask, {2, kVocabulary});
    std::vector<SampleRow> rows(kSampleRows, row.sample);
    std::vector<TokenPenalty> penalties;
    for (int64_t i = 0; i < kSampleRows && row.penalties; ++i) {
      add_penalties(row.penalties(i), rows[static_cast<size_t>(i)], penalties);
    }
    return [=, &backend]() -> std::vector<Tensor> {
      const auto sampled = ops::sample(backend, logits,
                                       {.masks = row.masks ? &masks : nullptr,
                                        .rows = rows,
                                        .penalties = penalties,
                                        .top = row.top});
      return {sampled.ids, sampled.log_probabilities};
    };
  };
  c.bound = [row](const std::vector<Values>& expected) {
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < expected[0].size(); ++i) {
      bounds[0][i] = std::isfinite(expected[1][i]) ? 0.0F : kVocabulary;  // else any index
    }
    const float bound = sum_error(kVocabulary) + kEpsilon * (8.0F + 8.0F * row.spread);
    std::ranges::fill(bounds[1], bound);
    return bounds;
  };
  return c;
}

// Sampling: the random number stands in the middle of the share of the token that is the `rank`th
// likeliest, so that rounding cannot move it to a neighbour.
OpCase draw_case(float temperature, size_t rank, PenaltiesOf penalties = nullptr) {
  CaseRow row{.what = "", .sample = any_token(), .spread = 1.5F, .penalties = std::move(penalties)};
  std::vector<float> logits = logits_of(row);
  if (row.penalties) {
    for (const TokenPenalty& penalty : row.penalties(0)) {
      float& logit = logits[static_cast<size_t>(penalty.token)];
      logit = penalty.of(logit);
    }
  }
  std::vector<double> shares;
  for (int32_t id = 0; id < kVocabulary; ++id) {
    const auto logit = static_cast<double>(logits[static_cast<size_t>(id)]);
    shares.push_back(id <= kEnd || id >= kTimestamps ? std::exp(logit / temperature) : 0.0);
  }
  std::vector<double> sorted = shares;
  std::ranges::sort(sorted, std::greater());
  const auto wanted = std::ranges::find(shares, sorted[rank]);
  const double before = std::accumulate(shares.begin(), wanted, 0.0);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  row.sample.temperature = temperature;
  row.sample.uniform = static_cast<float>((before + *wanted / 2.0) / all);
  OpCase c = case_of(row);
  c.name = fmt::format("{}sampled at temperature {}: the likeliest but {}",
                       row.penalties ? "penalised, " : "", temperature, rank);
  const auto prepare_all = c.prepare;
  c.prepare = [prepare_all](Backend& backend) -> Step {
    const Step step = prepare_all(backend);
    return [step]() -> std::vector<Tensor> {
      std::vector<Tensor> results = step();
      for (Tensor& result : results) {
        result = result.narrow(0, 0, 1);  // the row that the random number was made for
      }
      return results;
    };
  };
  return c;
}

// A vocabulary of thousands, whole numbers only, so that tokens tie: the best nine, or one sampled
// in the middle of its share (`temperature` above 0).
OpCase many_tokens_case(float temperature) {
  constexpr int32_t kTokens = 5003;
  SampleRow row{.first = {0, 4800}, .second = {4810, kTokens}};
  std::vector<float> logits = normals(2 * int64_t{kTokens}, 13, 2.0F);
  std::ranges::transform(logits, logits.begin(), [](float x) { return std::round(x); });
  if (temperature > 0.0F) {
    std::vector<double> sums{0.0};
    for (int32_t id = 0; id < kTokens; ++id) {
      const bool comes = row.first.contains(id) || row.second.contains(id);
      const auto logit = static_cast<double>(logits[static_cast<size_t>(id)]);
      sums.push_back(sums.back() + (comes ? std::exp(logit / temperature) : 0.0));
    }
    constexpr size_t kWanted = 3217;
    row.temperature = temperature;
    row.uniform = static_cast<float>((sums[kWanted] + sums[kWanted + 1]) / 2.0 / sums.back());
  }
  OpCase c;
  c.op = "sample";
  c.name = temperature > 0.0F
               ? fmt::format("{} tokens sampled at temperature {}", kTokens, temperature)
               : fmt::format("the best nine of {} tokens", kTokens);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = ops::from_host(backend, logits, {2, kTokens});
    return [=, &backend]() -> std::vector<Tensor> {
      const std::vector<SampleRow> rows(2, row);
      const auto sampled =
          ops::sample(backend, x, {.rows = rows, .top = temperature > 0.0F ? 1 : 9});
      // The row that the random number was made for.
      return {sampled.ids.narrow(0, 0, 1), sampled.log_probabilities.narrow(0, 0, 1)};
    };
  };
  c.bound = each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kTokens); });
  return c;
}

// More tokens than a card has bits to tell which are penalised: neighbours at both ends and some
// far between, whole numbers, so that penalised and other tokens tie.
OpCase many_penalties_case() {
  constexpr int32_t kTokens = 66007;
  std::vector<float> logits = normals(int64_t{kTokens}, 17, 2.0F);
  std::ranges::transform(logits, logits.begin(), [](float x) { return 2.0F * std::round(x); });
  std::vector<TokenPenalty> penalties;
  for (int32_t token = 0; token < kTokens; ++token) {
    if (token < 70 || token % 97 == 3 || token > kTokens - 4) {
      penalties.push_back({.token = token, .factor = token % 5 == 0 ? TokenPenalty::kNever : 2.0F});
    }
  }
  // The largest stand where penalties do: at an entry, before it, after it.
  for (const int32_t token :
       {0, 1, 69, 70, 97 * 300 + 2, 97 * 300 + 3, 97 * 300 + 4, kTokens - 1}) {
    logits[static_cast<size_t>(token)] = 24.0F;
  }
  OpCase c;
  c.op = "sample";
  c.name = fmt::format("the best nine of {} tokens, {} penalised", kTokens, penalties.size());
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = ops::from_host(backend, logits, {1, kTokens});
    SampleRow row;
    std::vector<TokenPenalty> all;
    add_penalties(penalties, row, all);
    return [=, &backend]() -> std::vector<Tensor> {
      const auto sampled =
          ops::sample(backend, x, {.rows = std::span(&row, 1), .penalties = all, .top = 9});
      return {sampled.ids, sampled.log_probabilities};
    };
  };
  c.bound = each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kTokens); });
  return c;
}

// A model's whole vocabulary, `penalised` tokens among it that were said.
OpCase vocabulary_case(int32_t penalised) {
  constexpr int32_t kWhisperEnglish = 51864;
  OpCase c;
  c.op = "sample";
  c.name = fmt::format("one row of {}", kWhisperEnglish) +
           (penalised > 0 ? fmt::format(", {} penalised", penalised) : "");
  c.prepare = [penalised](Backend& backend) -> Step {
    const Tensor logits =
        ops::from_host(backend, normals(kWhisperEnglish, 1, 4.0F), {1, kWhisperEnglish});
    SampleRow row{.first = {0, 50257}, .second = {50363, kWhisperEnglish}, .prefer_second = true};
    std::vector<TokenPenalty> penalties;
    penalties.reserve(static_cast<size_t>(penalised));
    for (int32_t i = 0; i < penalised; ++i) {
      penalties.push_back({.token = 220 * i + i % 7, .factor = 1.1F});
    }
    row.penalties_count = penalised;
    return [=, &backend]() -> std::vector<Tensor> {
      const auto sampled =
          ops::sample(backend, logits, {.rows = std::span(&row, 1), .penalties = penalties});
      return {sampled.ids, sampled.log_probabilities};
    };
  };
  c.bound =
      each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kWhisperEnglish) * 2.0F; });
  c.operations = 3.0 * kWhisperEnglish;
  c.bytes = 4.0 * kWhisperEnglish;
  c.large = true;
  return c;
}

}  // namespace

void add_sample_cases(std::vector<OpCase>& table) {
  for (const std::vector<CaseRow>& rows : {plain_rows(), penalised_rows()}) {
    for (const CaseRow& row : rows) {
      table.push_back(case_of(row));
    }
  }
  for (const float temperature : {0.2F, 1.0F}) {
    for (const size_t rank : {0, 1, 4}) {
      table.push_back(draw_case(temperature, rank));
      table.push_back(draw_case(temperature, rank, each_of(0, 2, 1.3F)));
    }
  }
  table.push_back(many_tokens_case(0.0F));
  table.push_back(many_tokens_case(1.0F));
  table.push_back(many_penalties_case());
  table.push_back(vocabulary_case(0));
  table.push_back(vocabulary_case(224));
}

}  // namespace mynah::cases
