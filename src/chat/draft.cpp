#include "chat/draft.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace mynah {
namespace {

// How much more a step must give by what it costs: less is lost where a guess is worse than its
// record.
constexpr double kWorthIt = 1.05;
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
  double best = kWorthIt;
  size_t worth = 0;  // tokens that give the most for what they cost
  while (std::ssize(draft.tokens) < wish.most) {
    PromptLookup::Guess next{.token = -1, .chance = 1};
    if (const auto only = only_token(draft.allowed.back())) {
      next.token = *only;
    } else if (const auto guess =
                   wish.lookup == nullptr ? std::nullopt : wish.lookup->guess(draft.tokens)) {
      next = *guess;
    }
    chance *= next.chance;
    const double cost = wish.cost(std::ssize(draft.tokens) + 1);
    // Nothing is read behind what ends the text.
    if (next.token < 0 || chance < kHopeless || !(cost < given + 1) ||
        !is_allowed(draft.allowed.back(), next.token) ||
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
    if (given / cost > best) {
      best = given / cost;
      worth = draft.tokens.size();
    }
  }
  draft.tokens.resize(worth);
  draft.allowed.resize(worth + 1);
  return draft;
}

}  // namespace mynah
