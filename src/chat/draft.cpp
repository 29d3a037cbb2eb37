#include "chat/draft.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace mynah {
namespace {

// How much more guesses must give than they cost: less is lost where one is worse than its record.
constexpr double kWorthIt = 1.25;
// From this chance on guesses are as good as known: they repeat what was said.
constexpr double kSure = 0.75;
// Below this chance of being looked at nothing that stands behind makes a draft worth it.
constexpr double kHopeless = 0.25;

bool is_allowed(std::span<const uint32_t> allowed, int32_t token) {
  const auto bit = static_cast<uint32_t>(token);
  return allowed.empty() || (allowed[bit / 32] >> (bit % 32) & 1U) != 0;
}

// The token that alone may come.
std::optional<int32_t> only_token(std::span<const uint32_t> allowed) {
  std::optional<int32_t> only;
  for (size_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == 0) {
      continue;
    }
    if (only || std::popcount(allowed[word]) > 1) {
      return std::nullopt;
    }
    only = static_cast<int32_t>(word * 32) + std::countr_zero(allowed[word]);
  }
  return only;
}

std::vector<uint32_t> row_of(std::span<const uint32_t> allowed) {
  return {allowed.begin(), allowed.end()};
}

}  // namespace

Draft make_draft(const DraftWish& wish) {
  Draft draft{
      .tokens = {},
      .allowed = {wish.rule == nullptr ? std::vector<uint32_t>() : row_of(wish.rule->allowed())}};
  std::unique_ptr<TokenRule> ahead;
  double chance = 1;  // that all so far are right
  double given = 1;   // tokens that the step is expected to give
  double best = 1;
  size_t worth = 0;  // tokens that give the most for what they cost
  const double texts = wish.others + 1;
  while (std::ssize(draft.tokens) < wish.most) {
    PromptLookup::Guess next{.token = -1, .chance = 1};
    if (const auto only = only_token(draft.allowed.back())) {
      next.token = *only;
    } else if (const auto guess =
                   wish.lookup == nullptr ? std::nullopt : wish.lookup->guess(draft.tokens)) {
      next = *guess;
    }
    chance *= next.chance;
    const double times = wish.cost(std::ssize(draft.tokens) + 1);
    const double cost = texts * (times - 1);
    // Nothing is read behind what ends the text.
    if (next.token < 0 || chance < kHopeless || !(cost < given) ||
        (chance < kSure && cost > wish.may_cost) || !is_allowed(draft.allowed.back(), next.token) ||
        std::ranges::binary_search(wish.ends, next.token)) {
      break;
    }
    given += chance;
    draft.tokens.push_back(next.token);
    if (wish.rule == nullptr) {
      draft.allowed.emplace_back();
    } else {
      ahead = ahead == nullptr ? wish.rule->copy() : std::move(ahead);
      ahead->take(next.token);
      draft.allowed.push_back(row_of(ahead->allowed()));
    }
    const double rate = (wish.others + given) / (texts * times);
    if (rate > best && given - 1 > kWorthIt * cost) {
      best = rate;
      worth = draft.tokens.size();
      draft.cost = cost;
    }
  }
  draft.tokens.resize(worth);
  draft.allowed.resize(worth + 1);
  return draft;
}

}  // namespace mynah
