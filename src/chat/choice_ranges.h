// Ranges of the numbers by which tokens of a reply are chosen: one table for the command line and
// for what clients of the server send.
#pragma once

namespace mynah::choice {

struct Range {
  double least = 0;
  double most = 0;
};

inline constexpr Range kTemperature = {.least = 0, .most = 5};
inline constexpr Range kTopK = {.least = -1, .most = 1e6};  // -1 and 0: off
inline constexpr Range kShare = {.least = 0, .most = 1};    // of top-p, min-p and typical-p
inline constexpr Range kRepeatPenalty = {.least = 0.01, .most = 10};
// What is taken off for what was said at all, and each time.
inline constexpr Range kSaidPenalty = {.least = -2, .most = 2};
// More than any context has.
inline constexpr Range kTokens = {.least = 0, .most = 1e9};
inline constexpr Range kAlternatives = {.least = 0, .most = 20};  // as OpenAI's API

}  // namespace mynah::choice
