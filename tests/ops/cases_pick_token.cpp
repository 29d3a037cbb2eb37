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

TokenRule any_token() {
  TokenRule rule;
  rule.text_end = kEnd + 1;
  rule.timestamp_begin = rule.timestamp_low = kTimestamps;
  rule.timestamp_high = kVocabulary;
  return rule;
}

// Penalties of row `i` of the logits.
using PenaltiesOf = std::function<std::vector<TokenPenalty>(int64_t i)>;

struct PickRow {
  const char* what;
  TokenRule rule;
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
      penalties.push_back({.token = token, .penalty = penalty});
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
        {.token = token, .penalty = token % 3 == 1 ? TokenPenalty::kNever : penalty});
  }
  return penalties;
}

PickRow pick_row(const char* what, const std::function<void(PickRow&)>& change) {
  PickRow row{.what = what, .rule = any_token()};
  change(row);
  return row;
}

std::vector<PickRow> pick_rows() {
  std::vector<PickRow> rows;
  const auto add = [&](const char* what, const std::function<void(PickRow&)>& change) {
    rows.push_back(pick_row(what, change));
  };
  add("anything", [](PickRow&) {});
  add("the best five", [](PickRow& r) { r.top = 5; });
  add("suppressed tokens", [](PickRow& r) { r.masks = true; });
  add("suppressed by the second mask", [](PickRow& r) {
    r.masks = true;
    r.rule.mask = 1;
    r.top = 3;
  });
  add("timestamps only", [](PickRow& r) { r.rule.text_allowed = false; });
  add("no timestamps", [](PickRow& r) { r.rule.timestamp_high = r.rule.timestamp_low; });
  add("timestamps from a time on", [](PickRow& r) {
    r.rule.text_allowed = false;
    r.rule.timestamp_low = 90;
    r.top = 2;
  });
  add("the end or a timestamp", [](PickRow& r) {
    r.rule.text_begin = kEnd;
    r.top = 4;
  });
  add("the end only", [](PickRow& r) {
    r.rule.text_begin = kEnd;
    r.rule.timestamp_high = r.rule.timestamp_low;
  });
  add("timestamps together likelier than any text", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.spread = 0.5F;
    r.timestamp_bias = 0.5F;
    r.top = 3;
  });
  add("text likelier than all timestamps", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.timestamp_bias = -30.0F;
  });
  add("timestamps preferred and none allowed", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.rule.timestamp_high = r.rule.timestamp_low;
  });
  add("more wanted than allowed", [](PickRow& r) {
    r.rule.text_begin = kEnd - 1;
    r.rule.timestamp_high = r.rule.timestamp_low + 1;
    r.top = 5;
  });
  add("NaN among the logits", [](PickRow& r) { r.bad = true; });
  add("nothing allowed", [](PickRow& r) {
    r.rule.text_allowed = false;
    r.rule.timestamp_high = r.rule.timestamp_low;
    r.top = 2;
  });
  return rows;
}

std::vector<PickRow> penalised_rows() {
  std::vector<PickRow> rows;
  const auto add = [&](const char* what, const std::function<void(PickRow&)>& change) {
    rows.push_back(pick_row(what, change));
    rows.back().top = 5;
  };
  add("every second penalised", [](PickRow& r) { r.penalties = each_of(0, 2, 1.3F); });
  add("the likeliest of those penalised", [](PickRow& r) {
    r.penalties = each_of(0, 1, 1.7F);
    r.top = 1;
  });
  add("some likelier by a penalty below 1", [](PickRow& r) { r.penalties = each_of(3, 7, 0.6F); });
  add("every second never comes",
      [](PickRow& r) { r.penalties = each_of(1, 2, TokenPenalty::kNever); });
  add("suppressed tokens penalised", [](PickRow& r) {
    r.masks = true;
    r.penalties = each_of(0, 2, 1.3F);
  });
  add("suppressed tokens never come", [](PickRow& r) {
    r.masks = true;
    r.penalties = each_of(0, 2, TokenPenalty::kNever);
  });
  add("one never comes",
      [](PickRow& r) { r.penalties = each_of(17, kVocabulary, TokenPenalty::kNever); });
  add("the last token penalised",
      [](PickRow& r) { r.penalties = each_of(kVocabulary - 4, kVocabulary, 40.0F); });
  add("tokens that the rule leaves out penalised", [](PickRow& r) {
    r.rule.text_allowed = false;
    r.rule.timestamp_low = 90;
    r.penalties = each_of(0, 3, 1.3F);
  });
  add("every token penalised or never coming",
      [](PickRow& r) { r.penalties = [](int64_t) { return all_tokens(1.3F); }; });
  add("no token comes",
      [](PickRow& r) { r.penalties = [](int64_t) { return all_tokens(TokenPenalty::kNever); }; });
  add("NaN and -infinity penalised", [](PickRow& r) {
    r.bad = true;
    r.infinite = true;
    r.penalties = each_of(0, 1, 1.3F);
  });
  add("penalised timestamps together not as likely as text", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.spread = 0.5F;
    r.timestamp_bias = 0.5F;
    r.penalties = each_of(kTimestamps, 1, TokenPenalty::kNever);
  });
  add("penalised text not as likely as all timestamps", [](PickRow& r) {
    r.rule.prefer_timestamps = true;
    r.timestamp_bias = 3.0F;
    r.penalties = each_of(0, 1, 2.0F);
  });
  return rows;
}

constexpr int64_t kPickRows = 4;

std::vector<float> pick_logits(const PickRow& row) {
  std::vector<float> logits = normals(kPickRows * kVocabulary, 11, row.spread);
  for (int64_t i = 0; i < kPickRows; ++i) {
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

// As the part of `all` that `rule` names.
void add_penalties(const std::vector<TokenPenalty>& penalties, TokenRule& rule,
                   std::vector<TokenPenalty>& all) {
  rule.penalties_begin = static_cast<int32_t>(all.size());
  rule.penalties_count = static_cast<int32_t>(penalties.size());
  all.insert(all.end(), penalties.begin(), penalties.end());
}

OpCase pick_case(const PickRow& row) {
  OpCase c;
  c.op = "pick_token";
  c.name = row.what;
  c.prepare = [row](Backend& backend) -> Step {
    const Tensor logits =
        matrix(backend, pick_logits(row), kPickRows, kVocabulary, Layout::Strided);
    std::vector<float> mask(2 * kVocabulary, 0.0F);
    for (int64_t i = 0; i < 2 * kVocabulary; i += 3) {
      mask[static_cast<size_t>(i)] = -INFINITY;
    }
    const Tensor masks = ops::from_host(backend, mask, {2, kVocabulary});
    std::vector<TokenRule> rules(kPickRows, row.rule);
    std::vector<TokenPenalty> penalties;
    for (int64_t i = 0; i < kPickRows && row.penalties; ++i) {
      add_penalties(row.penalties(i), rules[static_cast<size_t>(i)], penalties);
    }
    return [=, &backend]() -> std::vector<Tensor> {
      const auto picked = ops::pick_token(backend, logits,
                                          {.masks = row.masks ? &masks : nullptr,
                                           .rules = rules,
                                           .penalties = penalties,
                                           .top = row.top});
      return {picked.ids, picked.log_probabilities};
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
OpCase sample_case(float temperature, size_t rank, PenaltiesOf penalties = nullptr) {
  PickRow row{.what = "", .rule = any_token(), .spread = 1.5F, .penalties = std::move(penalties)};
  std::vector<float> logits = pick_logits(row);
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
  row.rule.temperature = temperature;
  row.rule.uniform = static_cast<float>((before + *wanted / 2.0) / all);
  OpCase c = pick_case(row);
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
  TokenRule rule;
  rule.text_end = 4800;
  rule.timestamp_begin = rule.timestamp_low = 4810;
  rule.timestamp_high = kTokens;
  std::vector<float> logits = normals(2 * int64_t{kTokens}, 13, 2.0F);
  std::ranges::transform(logits, logits.begin(), [](float x) { return std::round(x); });
  if (temperature > 0.0F) {
    std::vector<double> sums{0.0};
    for (int32_t id = 0; id < kTokens; ++id) {
      const bool comes = id < rule.text_end || id >= rule.timestamp_low;
      const auto logit = static_cast<double>(logits[static_cast<size_t>(id)]);
      sums.push_back(sums.back() + (comes ? std::exp(logit / temperature) : 0.0));
    }
    constexpr size_t kWanted = 3217;
    rule.temperature = temperature;
    rule.uniform = static_cast<float>((sums[kWanted] + sums[kWanted + 1]) / 2.0 / sums.back());
  }
  OpCase c;
  c.op = "pick_token";
  c.name = temperature > 0.0F
               ? fmt::format("{} tokens sampled at temperature {}", kTokens, temperature)
               : fmt::format("the best nine of {} tokens", kTokens);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = ops::from_host(backend, logits, {2, kTokens});
    return [=, &backend]() -> std::vector<Tensor> {
      const std::vector<TokenRule> rules(2, rule);
      const auto picked =
          ops::pick_token(backend, x, {.rules = rules, .top = temperature > 0.0F ? 1 : 9});
      // The row that the random number was made for.
      return {picked.ids.narrow(0, 0, 1), picked.log_probabilities.narrow(0, 0, 1)};
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
      penalties.push_back(
          {.token = token, .penalty = token % 5 == 0 ? TokenPenalty::kNever : 2.0F});
    }
  }
  // The largest stand where penalties do: at an entry, before it, after it.
  for (const int32_t token :
       {0, 1, 69, 70, 97 * 300 + 2, 97 * 300 + 3, 97 * 300 + 4, kTokens - 1}) {
    logits[static_cast<size_t>(token)] = 24.0F;
  }
  OpCase c;
  c.op = "pick_token";
  c.name = fmt::format("the best nine of {} tokens, {} penalised", kTokens, penalties.size());
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = ops::from_host(backend, logits, {1, kTokens});
    TokenRule rule{.text_end = kTokens,
                   .timestamp_begin = kTokens,
                   .timestamp_low = kTokens,
                   .timestamp_high = kTokens};
    std::vector<TokenPenalty> all;
    add_penalties(penalties, rule, all);
    return [=, &backend]() -> std::vector<Tensor> {
      const auto picked =
          ops::pick_token(backend, x, {.rules = std::span(&rule, 1), .penalties = all, .top = 9});
      return {picked.ids, picked.log_probabilities};
    };
  };
  c.bound = each_value([](float y) { return y >= 0.0F ? 0.0F : sum_error(kTokens); });
  return c;
}

// A model's whole vocabulary, `penalised` tokens among it that were said.
OpCase vocabulary_case(int32_t penalised) {
  constexpr int32_t kWhisperEnglish = 51864;
  OpCase c;
  c.op = "pick_token";
  c.name = fmt::format("one row of {}", kWhisperEnglish) +
           (penalised > 0 ? fmt::format(", {} penalised", penalised) : "");
  c.prepare = [penalised](Backend& backend) -> Step {
    const Tensor logits =
        ops::from_host(backend, normals(kWhisperEnglish, 1, 4.0F), {1, kWhisperEnglish});
    TokenRule rule;
    rule.text_end = 50257;
    rule.timestamp_begin = rule.timestamp_low = 50363;
    rule.timestamp_high = kWhisperEnglish;
    rule.prefer_timestamps = true;
    std::vector<TokenPenalty> penalties;
    penalties.reserve(static_cast<size_t>(penalised));
    for (int32_t i = 0; i < penalised; ++i) {
      penalties.push_back({.token = 220 * i + i % 7, .penalty = 1.1F});
    }
    rule.penalties_count = penalised;
    return [=, &backend]() -> std::vector<Tensor> {
      const auto picked =
          ops::pick_token(backend, logits, {.rules = std::span(&rule, 1), .penalties = penalties});
      return {picked.ids, picked.log_probabilities};
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

void add_pick_token_cases(std::vector<OpCase>& table) {
  for (const std::vector<PickRow>& rows : {pick_rows(), penalised_rows()}) {
    for (const PickRow& row : rows) {
      table.push_back(pick_case(row));
    }
  }
  for (const float temperature : {0.2F, 1.0F}) {
    for (const size_t rank : {0, 1, 4}) {
      table.push_back(sample_case(temperature, rank));
      table.push_back(sample_case(temperature, rank, each_of(0, 2, 1.3F)));
    }
  }
  table.push_back(many_tokens_case(0.0F));
  table.push_back(many_tokens_case(1.0F));
  table.push_back(many_penalties_case());
  table.push_back(vocabulary_case(0));
  table.push_back(vocabulary_case(224));
}

}  // namespace mynah::cases
