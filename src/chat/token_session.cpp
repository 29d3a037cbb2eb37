#include "chat/token_session.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "nn/decode/sampling.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

std::unexpected<Error> refuse(const std::string& what) {
  return fail(ErrorCode::InvalidInput, "a step with " + what);
}

double log_sum_exp(std::span<const float> logits) {
  const float highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit - highest));
  }
  return highest + std::log(sum);
}

// What the model thinks of the likeliest tokens, and of the one that was chosen.
void tell_likely(std::span<const float> logits, int32_t alternatives, ChosenToken& chosen) {
  const double total = log_sum_exp(logits);
  const auto probability = [&](int32_t token) {
    return static_cast<float>(static_cast<double>(logits[static_cast<size_t>(token)]) - total);
  };
  chosen.log_probability = probability(chosen.token);
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<int64_t>(alternatives, std::ssize(order));
  std::ranges::partial_sort(order, order.begin() + count, [&](int32_t a, int32_t b) {
    const float of_a = logits[static_cast<size_t>(a)];
    const float of_b = logits[static_cast<size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
  for (const int32_t token : std::span(order).first(static_cast<size_t>(count))) {
    chosen.alternatives.push_back({.token = token, .log_probability = probability(token)});
  }
}

// The wishes of a step as ops::sample() takes them.
struct Wishes {
  void add(const TokenWish& wish, MaskRows* masks) {
    SampleRow row;
    row.penalties_begin = static_cast<int32_t>(penalties.size());
    row.penalties_count = static_cast<int32_t>(wish.penalties.size());
    penalties.insert(penalties.end(), wish.penalties.begin(), wish.penalties.end());
    row.temperature = wish.temperature;
    row.uniform = wish.uniform;
    row.top_k = wish.top_k;
    row.top_p = wish.top_p;
    row.min_p = wish.min_p;
    row.typical_p = wish.typical_p;
    row.mask = masks == nullptr ? 0 : masks->row_of(wish.allowed);
    rows.push_back(row);
  }

  std::vector<SampleRow> rows;
  std::vector<TokenPenalty> penalties;
};

// How many of a request's wishes there are, where any leaves tokens out; else 0.
size_t masks_of(const StepRequest& request) {
  size_t wishes = 0;
  bool any = false;
  for (const TextStep& step : request.steps) {
    wishes += step.wishes.size();
    any = any || std::ranges::any_of(step.wishes,
                                     [](const TokenWish& wish) { return !wish.allowed.empty(); });
  }
  return any ? wishes : 0;
}

}  // namespace

bool TokenSession::has(uint64_t text, int64_t positions) const {
  const auto known = texts_.find(text);
  return known == texts_.end() ? positions == 0
                               : sequences_.cache().forks_at(known->second, positions);
}

Status TokenSession::check(const TextStep& step) const {
  if (!has(step.text, step.begin)) {
    const auto known = texts_.find(step.text);
    return refuse(
        fmt::format("{} positions of a text that has {}, or does not go back so far", step.begin,
                    known == texts_.end() ? 0 : sequences_.cache().length(known->second)));
  }
  if (step.tokens.empty() ||
      step.begin + std::ssize(step.tokens) > sequences_.cache().sizes().capacity) {
    return refuse(fmt::format("{} tokens behind {} of {} positions", step.tokens.size(), step.begin,
                              sequences_.cache().sizes().capacity));
  }
  const auto is_token = [this](int32_t token) { return token >= 0 && token < vocabulary_; };
  if (!std::ranges::all_of(step.tokens, is_token)) {
    return refuse("tokens that the model does not have");
  }
  if (step.wishes.size() > step.tokens.size()) {
    return refuse("more wishes than tokens");
  }
  for (const TokenWish& wish : step.wishes) {
    MYNAH_TRY_STATUS(check(wish));
  }
  return {};
}

Status TokenSession::check(const TokenWish& wish) const {
  const auto is_token = [this](int32_t token) { return token >= 0 && token < vocabulary_; };
  const bool ordered = std::ranges::adjacent_find(wish.penalties, std::greater_equal(),
                                                  &TokenPenalty::token) == wish.penalties.end();
  const auto is_penalty = [&](const TokenPenalty& penalty) {
    return is_token(penalty.token) && penalty.factor > 0 && std::isfinite(penalty.offset) &&
           std::isfinite(penalty.bias);
  };
  const auto words = static_cast<size_t>((vocabulary_ + 31) / 32);
  if (!ordered || !std::ranges::all_of(wish.penalties, is_penalty) ||
      (!wish.allowed.empty() && wish.allowed.size() != words) || !(wish.temperature >= 0) ||
      !(wish.uniform >= 0 && wish.uniform < 1) || wish.top_k < 0) {
    return refuse("a wish that nothing can follow");
  }
  return {};
}

Status TokenSession::check(const StepRequest& request) const {
  std::set<uint64_t> named;
  for (const TextStep& step : request.steps) {
    if (!named.insert(step.text).second) {
      return refuse("a text that stands in it twice");
    }
    MYNAH_TRY_STATUS(check(step));
  }
  return {};
}

void TokenSession::forget(uint64_t text) {
  if (const auto known = texts_.find(text); known != texts_.end()) {
    sequences_.evict(known->second);
    texts_.erase(known);
  }
}

void TokenSession::fork(const TextFork& fork) {
  const int64_t forked = sequences_.fork(texts_.at(fork.from), fork.length);
  forget(fork.to);
  texts_[fork.to] = forked;
}

int64_t TokenSession::begin(const TextStep& step) {
  if (!texts_.contains(step.text)) {
    return texts_[step.text] = sequences_.admit(step.tokens);
  }
  if (step.begin < sequences_.cache().length(texts_.at(step.text))) {
    fork({.from = step.text, .to = step.text, .length = step.begin});
  }
  const int64_t sequence = texts_.at(step.text);
  for (const int32_t token : step.tokens) {
    sequences_.append(sequence, token);
  }
  return sequence;
}

Result<std::vector<ChosenToken>> TokenSession::compute(const StepRequest& request) {
  std::vector<int64_t> growing;
  std::vector<int64_t> asked;
  std::vector<int64_t> counts;        // of rows of each of those
  std::vector<int32_t> alternatives;  // of each row
  Wishes wishes;
  MaskRows* masks = nullptr;
  if (const size_t most = masks_of(request); most > 0) {
    masks = &masks_;
    masks_.begin(most);
  }
  bool looks_on = false;
  for (const TextStep& step : request.steps) {
    const int64_t sequence = begin(step);
    if (step.wishes.empty()) {
      growing.push_back(sequence);
      continue;
    }
    asked.push_back(sequence);
    counts.push_back(std::ssize(step.wishes));
    for (const TokenWish& wish : step.wishes) {
      wishes.add(wish, masks);
      alternatives.push_back(wish.alternatives);
      looks_on = looks_on || wish.alternatives >= 0;
    }
  }
  std::vector<ChosenToken> chosen(alternatives.size());
  if (asked.empty() && growing.empty()) {
    return chosen;
  }
  std::vector<float> logits;
  Sequences::Beside beside{.growing = growing, .asked = counts, .on_logits = nullptr};
  if (looks_on) {
    beside.on_logits = [&](const Tensor& found) { logits = ops::to_host(backend_, found); };
  }
  const Sampled sampled = sequences_.step(asked,
                                          {.masks = masks == nullptr ? nullptr : &masks->rows(),
                                           .rows = wishes.rows,
                                           .penalties = wishes.penalties,
                                           .top = 1},
                                          beside);
  const auto width = static_cast<size_t>(vocabulary_);
  for (size_t row = 0; row < chosen.size(); ++row) {
    ChosenToken& one = chosen[row];
    one.token = sampled.ids[row];
    if (!std::isfinite(sampled.log_probabilities[row])) {
      return fail(ErrorCode::Device, "it computed logits that are no numbers (NaN)");
    }
    if (alternatives[row] >= 0) {
      tell_likely(std::span(logits).subspan(row * width, width), alternatives[row], one);
    }
  }
  return chosen;
}

Result<std::vector<ChosenToken>> TokenSession::step(const StepRequest& request) {
  return or_device_error([&]() -> Result<std::vector<ChosenToken>> {
    for (const TextFork& one : request.forks) {
      if (!texts_.contains(one.from) || !has(one.from, one.length)) {
        return refuse(fmt::format("a text that begins as {} positions of none", one.length));
      }
      fork(one);
    }
    for (const uint64_t text : request.forgotten) {
      forget(text);
    }
    MYNAH_TRY_STATUS(check(request));
    auto chosen = compute(request);
    if (after_step_) {
      after_step_();
    }
    return chosen;
  });
}

}  // namespace mynah
