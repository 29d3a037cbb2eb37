// Rows of the table: tokens drawn from what top_k, typical_p, top_p and min_p leave.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"
#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

struct Token {
  int32_t id;
  double value;
  double p;
};

// A distribution, at temperature 1, that filters cut one after the other, and the parameters that
// make them do so.
// Each stands in the middle between what keeps one token less and what keeps one more, and is
// checked to be farther from both than sums are rounded.
class Cut {
 public:
  // Values that are -infinity do not come.
  Cut(std::span<const float> values, const SampleRow& row)
      : row_(row), rounding_(sum_error(std::ssize(values))) {
    for (int32_t id = 0; id < std::ssize(values); ++id) {
      const double value = static_cast<double>(values[static_cast<size_t>(id)]);
      if (value > -INFINITY) {
        tokens_.push_back({id, value, 0.0});
      }
    }
    weigh(1.0);
  }

  void top_k(int32_t k) {
    row_.top_k = k;
    keep(k);
  }

  // Parameters that leave what there is.
  SampleRow& set() { return row_; }

  // For parameters that leave one token.
  SampleRow& likeliest_alone() {
    keep(1);
    return row_;
  }

  void top_p(int64_t count) {
    sort_by_likelihood();
    row_.top_p = share_of(count);
  }

  // At least so many, up to one that is less likely.
  void min_p(int64_t count) {
    sort_by_likelihood();
    while (count < std::ssize(tokens_) && at(count).p > at(count - 1).p * (1.0 - rounding_)) {
      ++count;
    }
    if (count < std::ssize(tokens_)) {
      row_.min_p = static_cast<float>(std::sqrt(at(count - 1).p * at(count).p) / at(0).p);
    }
    keep(count);
  }

  // At least so many, up to one that is less typical by more than rounding, or a tie.
  void typical_p(int64_t count) {
    double entropy = 0.0;
    for (const Token& token : tokens_) {
      entropy -= token.p * std::log(token.p);
    }
    const auto deviation = [&](const Token& token) {
      return std::abs(-std::log(token.p) - entropy);
    };
    sort([&](const Token& a, const Token& b) { return a.p != b.p && deviation(a) < deviation(b); });
    const double rounding = rounding_ * (8.0 + entropy);
    while (count < std::ssize(tokens_) && at(count).value != at(count - 1).value &&
           deviation(at(count)) - deviation(at(count - 1)) < rounding) {
      ++count;
    }
    row_.typical_p = share_of(count);
  }

  // A row for each of a few of the tokens left, from the likeliest to the least likely that has a
  // share to speak of, with the random number in the middle of its share.
  [[nodiscard]] std::vector<SampleRow> drawing(int64_t count) {
    if (tokens_.empty()) {
      return {row_};
    }
    weigh(static_cast<double>(row_.temperature));
    const auto last = std::ranges::count_if(
                          tokens_, [&](const Token& token) { return token.p > 2.0 * rounding_; }) -
                      1;
    MYNAH_CHECK(last >= 0, "a token with a share");
    std::vector<SampleRow> rows;
    for (int64_t i = 0; i < count; ++i) {
      const Token& wanted = at(count < 2 ? last / 2 : last * i / (count - 1));
      double before = 0.0;
      for (const Token& token : tokens_) {
        before += token.id < wanted.id ? token.p : 0.0;
      }
      rows.push_back(row_);
      rows.back().uniform = static_cast<float>(before + wanted.p / 2.0);
    }
    return rows;
  }

 private:
  [[nodiscard]] const Token& at(int64_t i) const { return tokens_[static_cast<size_t>(i)]; }

  // The lower index first in a tie.
  template <class Before>
  void sort(const Before& before) {
    std::ranges::sort(tokens_, {}, &Token::id);
    std::ranges::stable_sort(tokens_, before);
  }

  void sort_by_likelihood() {
    sort([](const Token& a, const Token& b) { return a.value > b.value; });
  }

  // The shares at a temperature, the likeliest first.
  void weigh(double temperature) {
    sort_by_likelihood();
    for (Token& token : tokens_) {
      token.p = std::exp((token.value - tokens_[0].value) / temperature);
    }
    renormalise();
  }

  void renormalise() {
    double sum = 0.0;
    for (const Token& token : tokens_) {
      sum += token.p;
    }
    for (Token& token : tokens_) {
      token.p /= sum;
    }
  }

  void keep(int64_t count) {
    tokens_.resize(std::min(tokens_.size(), static_cast<size_t>(count)));
    renormalise();
  }

  // The share of the first so many tokens, which are kept, less half of the last one's.
  float share_of(int64_t count) {
    count = std::min(count, std::ssize(tokens_));
    double share = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      share += at(i).p;
    }
    const double half = count > 0 ? at(count - 1).p / 2.0 : 0.0;
    MYNAH_CHECK(count == 0 || half > rounding_, "a token with a share");
    keep(count);
    return static_cast<float>(share - half);
  }

  SampleRow row_;
  double rounding_;
  std::vector<Token> tokens_;
};

struct Given {
  std::string what;
  std::vector<float> logits;
  std::function<void(Cut&)> filter;
  SampleRow row = {.temperature = 1.0F};
  std::vector<TokenPenalty> penalties = {};
  std::vector<float> mask = {};  // empty: none
  bool large = false;
};

// The logits with penalties and mask; -infinity where a token may not come.
std::vector<float> values_of(const Given& given) {
  std::vector<float> values = given.logits;
  for (const TokenPenalty& penalty : given.penalties) {
    float& value = values[static_cast<size_t>(penalty.token)];
    value = penalty.of(value);
  }
  for (size_t id = 0; id < values.size(); ++id) {
    const auto token = static_cast<int64_t>(id);
    values[id] += given.mask.empty() ? 0.0F : given.mask[id];
    if (std::isnan(values[id]) ||
        !(given.row.first.contains(token) || given.row.second.contains(token))) {
      values[id] = -INFINITY;
    }
  }
  return values;
}

OpCase case_of(const Given& given) {
  const auto vocabulary = std::ssize(given.logits);
  Cut cut(values_of(given), given.row);
  given.filter(cut);
  std::vector<SampleRow> rows = cut.drawing(given.large ? 1 : 4);
  if (!given.large) {
    // One without filters stands among them.
    rows.insert(rows.begin() + 1, rows[0]);
    rows[1].temperature = 0.0F;
  }
  for (SampleRow& row : rows) {
    row.penalties_count = static_cast<int32_t>(given.penalties.size());
  }
  OpCase c;
  c.op = "sample";
  c.name = fmt::format("{}, of {} tokens", given.what, vocabulary);
  c.prepare = [given, rows, vocabulary](Backend& backend) -> Step {
    std::vector<float> logits;
    for (size_t i = 0; i < rows.size(); ++i) {
      logits.insert(logits.end(), given.logits.begin(), given.logits.end());
    }
    const Tensor x = ops::from_host(backend, logits, {std::ssize(rows), vocabulary});
    Tensor masks;
    if (!given.mask.empty()) {
      masks = ops::from_host(backend, given.mask, {1, vocabulary});
    }
    return [=, &backend]() -> std::vector<Tensor> {
      const auto sampled = ops::sample(backend, x,
                                       {.masks = masks.defined() ? &masks : nullptr,
                                        .rows = rows,
                                        .penalties = given.penalties});
      return {sampled.ids, sampled.log_probabilities};
    };
  };
  float largest = 0.0F;
  for (const float logit : given.logits) {
    largest = std::isfinite(logit) ? std::max(largest, std::abs(logit)) : largest;
  }
  c.bound = [vocabulary, largest](const std::vector<Values>& expected) {
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < expected[0].size(); ++i) {
      // Any index where nothing may come.
      bounds[0][i] = std::isfinite(expected[1][i]) ? 0.0F : static_cast<float>(vocabulary);
    }
    std::ranges::fill(bounds[1], sum_error(vocabulary) * 2.0F + kEpsilon * (8.0F + 8.0F * largest));
    return bounds;
  };
  if (given.large) {
    c.operations = 3.0 * static_cast<double>(vocabulary);
    c.bytes = 4.0 * static_cast<double>(vocabulary);
    c.large = true;
  }
  return c;
}

constexpr int64_t kFew = 101;
constexpr int64_t kMany = 5003;

std::vector<float> whole(std::vector<float> values) {
  std::ranges::transform(values, values.begin(), [](float x) { return std::round(x); });
  return values;
}

void all_four(Cut& cut) {
  cut.top_k(40);
  cut.typical_p(25);
  cut.top_p(15);
  cut.min_p(6);
}

struct Filter {
  const char* name;
  std::function<void(Cut&)> cut;
};

std::vector<Filter> filters() {
  return {{"top_k", [](Cut& cut) { cut.top_k(7); }},
          {"typical_p", [](Cut& cut) { cut.typical_p(5); }},
          {"top_p", [](Cut& cut) { cut.top_p(9); }},
          {"min_p", [](Cut& cut) { cut.min_p(8); }},
          {"all four", all_four}};
}

// Each filter alone and all of them, of tokens that differ and of tokens that tie.
void add_each(std::vector<OpCase>& table) {
  for (const Filter& filter : filters()) {
    for (const float temperature : {0.7F, 1.0F}) {
      table.push_back(
          case_of({.what = fmt::format("{} at temperature {}", filter.name, temperature),
                   .logits = normals(kFew, 23, 1.5F),
                   .filter = filter.cut,
                   .row = {.first = {0, 61}, .second = {70, 101}, .temperature = temperature}}));
    }
    table.push_back(case_of({.what = fmt::format("{} of tokens that tie", filter.name),
                             .logits = whole(normals(kFew, 29, 1.5F)),
                             .filter = filter.cut}));
    table.push_back(case_of({.what = fmt::format("{} of equal tokens", filter.name),
                             .logits = std::vector<float>(kFew, -2.5F),
                             .filter = filter.cut}));
    table.push_back(case_of({.what = fmt::format("{} of few of many", filter.name),
                             .logits = normals(kMany, 31, 2.0F),
                             .filter = filter.cut}));
    table.push_back(case_of({.what = fmt::format("{} of many that tie", filter.name),
                             .logits = whole(normals(kMany, 37, 2.0F)),
                             .filter = filter.cut}));
  }
}

// Parameters at their ends, and what else a row may have.
void add_ends(std::vector<OpCase>& table) {
  const auto add = [&](const char* what, const std::function<void(Cut&)>& filter,
                       const std::function<void(Given&)>& change) {
    Given given{.what = what, .logits = normals(kFew, 41, 1.5F), .filter = filter};
    change(given);
    table.push_back(case_of(given));
  };
  const auto nothing = [](Given&) {};
  add("top_k beyond the vocabulary", [](Cut& cut) { cut.top_k(1000); }, nothing);
  add("a tiny min_p", [](Cut& cut) { cut.set().min_p = 1e-30F; }, nothing);
  add("top_k of 1", [](Cut& cut) { cut.top_k(1); }, nothing);
  add("a tiny top_p", [](Cut& cut) { cut.likeliest_alone().top_p = 1e-9F; }, nothing);
  add("a top_p of 0", [](Cut& cut) { cut.likeliest_alone().top_p = 0.0F; }, nothing);
  add("a min_p of 1", [](Cut& cut) { cut.likeliest_alone().min_p = 1.0F; }, nothing);
  add(
      "a tiny typical_p",
      [](Cut& cut) {
        cut.typical_p(1);
        cut.set().typical_p = 1e-9F;
      },
      nothing);
  add(
      "a typical_p of 0",
      [](Cut& cut) {
        cut.typical_p(1);
        cut.set().typical_p = 0.0F;
      },
      nothing);
  add(
      "top_p and min_p, whichever leaves fewer",
      [](Cut& cut) {
        cut.top_p(30);
        cut.min_p(12);
      },
      nothing);
  // The likeliest is the least typical: min_p is relative to the next, and so are the weights at a
  // temperature at which that one's relative to the likeliest would be 0.
  add(
      "typical_p, min_p and a low temperature",
      [](Cut& cut) {
        cut.typical_p(50);
        cut.min_p(20);
      },
      [](Given& g) {
        g.logits = normals(kFew, 59, 0.1F);
        g.logits[17] = 2.0F;
        g.row.temperature = 0.01F;
      });
  add(
      "all four of one token",
      [](Cut& cut) {
        all_four(cut);
        cut.set().top_p = cut.set().typical_p = 0.5F;
        cut.set().min_p = 0.1F;
      },
      [](Given& g) { g.row.first = {17, 18}; });
  add(
      "all four where nothing may come", [](Cut& cut) { cut.top_k(5); },
      [](Given& g) { g.row.first = {}; });
  add("all four of the second tokens, which are preferred", all_four, [](Given& g) {
    g.logits = normals(kMany, 43, 2.0F);
    g.row.first = {0, 0};
    g.row.second = {3000, 4990};
    g.row.prefer_second = true;
  });
  add("all four after penalties, offsets and a mask, NaN among the logits", all_four, [](Given& g) {
    g.logits = normals(kMany, 47, 2.0F);
    g.mask.assign(kMany, 0.0F);
    for (size_t id = 0; id < kMany; id += 7) {
      g.mask[id] = -INFINITY;
      g.logits[id + 3] = NAN;
    }
    for (int32_t token = 2; token < kMany; token += 5) {
      g.penalties.push_back({.token = token,
                             .factor = token % 3 == 0 ? TokenPenalty::kNever : 1.2F,
                             .offset = token % 2 == 0 ? 1.5F : -2.0F,
                             .bias = token % 4 == 0 ? 0.75F : 0.0F});
    }
  });
}

// Vocabularies of models: Whisper's, and Qwen 2's and 3's.
void add_large(std::vector<OpCase>& table) {
  for (const int64_t vocabulary : {51865, 151936}) {
    for (const Filter& filter : filters()) {
      table.push_back(case_of({.what = std::string(filter.name) + ", one row",
                               .logits = normals(vocabulary, 53, 4.0F),
                               .filter = filter.cut,
                               .row = {.temperature = 0.8F},
                               .large = true}));
    }
  }
}

}  // namespace

void add_sample_filter_cases(std::vector<OpCase>& table) {
  add_each(table);
  add_ends(table);
  add_large(table);
}

}  // namespace mynah::cases
