// Draft: what a text is guessed to go on with, so that a step checks several tokens at once
// (Leviathan et al. 2023, arXiv:2211.17192, with the text itself in place of a smaller model).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "chat/prompt_lookup.h"
#include "chat/token_rule.h"

namespace mynah {

struct Draft {
  std::vector<int32_t> tokens;
  // TokenWish::allowed before the first of them, behind it, and so on: one more than tokens.
  std::vector<std::vector<uint32_t>> allowed;
  double cost = 0;  // tokens that the step would have given in the time that they add
};

struct DraftWish {
  const PromptLookup* lookup = nullptr;  // null: guesses come of the rule alone
  TokenRule* rule = nullptr;             // null: none
  std::span<const int32_t> ends;         // tokens that end the text, in rising order
  int64_t most = 0;                      // tokens
  // How long the step takes with so many tokens more, of what it takes without; infinite where
  // there may not be as many.
  std::function<double(int64_t more)> cost;
  double others = 0;  // tokens that the step gives to other texts, which wait for these
  // Draft::cost, at most, of guesses that are no better than the others that were tried.
  double may_cost = std::numeric_limits<double>::infinity();
};

// As many tokens as are worth what they cost. Where the rule leaves one token, that is no guess.
[[nodiscard]] Draft make_draft(const DraftWish& wish);

}  // namespace mynah
