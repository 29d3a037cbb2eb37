#include "speech/end_of_turn_rule.h"

#include <algorithm>
#include <cmath>

namespace mynah {
namespace {

// In the order of Eagerness.
constexpr std::array<std::string_view, 4> kEagernessNames = {"auto", "low", "medium", "high"};

double logit_of(float score) {
  constexpr double kLeast = 1e-6;
  const double inside = std::clamp(static_cast<double>(score), kLeast, 1 - kLeast);
  return std::log(inside / (1 - inside));
}

double least_logit_at(const std::array<EndOfTurnRule::Point, 3>& points, double silence_s) {
  for (size_t i = 1; i < points.size(); ++i) {
    const EndOfTurnRule::Point& from = points[i - 1];
    const EndOfTurnRule::Point& to = points[i];
    if (silence_s < to.silence_s) {
      const double part = (silence_s - from.silence_s) / (to.silence_s - from.silence_s);
      return std::lerp(from.least_logit, to.least_logit, part);
    }
  }
  return points.back().least_logit;
}

}  // namespace

std::optional<Eagerness> parse_eagerness(std::string_view text) {
  const auto* const found = std::ranges::find(kEagernessNames, text);
  return found == kEagernessNames.end()
             ? std::nullopt
             : std::optional(static_cast<Eagerness>(found - kEagernessNames.begin()));
}

std::string_view name_of(Eagerness eagerness) {
  return kEagernessNames[static_cast<size_t>(eagerness)];
}

std::optional<TurnEnd> EndOfTurnRule::end_at(const TurnMoment& moment) const {
  // Silence is counted in pieces of sound, whose ends lie a little off a tenth of a second.
  constexpr double kMoment_s = 1e-6;
  if (moment.score && moment.silence_s + kMoment_s >= first_look_s()) {
    const double taken = moment.clause == ClauseState::Open ? open_clause : 0;
    const double fall_db = moment.fall_db.value_or(kUsualFall_db) - kUsualFall_db;
    const double given = std::clamp(fall_gain * fall_db, -most_given, most_given);
    if (logit_of(*moment.score) + given - taken >=
        least_logit_at(points, moment.silence_s + kMoment_s)) {
      return TurnEnd::Said;
    }
  }
  const double wait_s = moment.clause == ClauseState::Open ? open_wait_s : 0;
  if (moment.silence_s + kMoment_s >= longest_silence_s + wait_s) {
    return TurnEnd::Silence;
  }
  if (moment.faint_s >= longest_faint_s && moment.silence_s < first_look_s()) {
    return TurnEnd::AnotherVoice;
  }
  if (moment.wordless_s >= longest_wordless_s) {
    return TurnEnd::Wordless;
  }
  if (moment.length_s >= longest_turn_s) {
    return TurnEnd::TooLong;
  }
  return std::nullopt;
}

// Chosen by bench/turns.py on the first half of its speakers (docs/turns.md): High for a mean
// latency of 0.3 s, Medium for 0.6 s, Low for 5 % of pauses cut off.
EndOfTurnRule end_of_turn_rule(Eagerness eagerness) {
  EndOfTurnRule rule;
  rule.open_clause = 8;
  rule.fall_gain = 2.5;
  rule.most_given = 5;
  rule.longest_silence_s = 1.5;
  switch (eagerness) {
    case Eagerness::Low:
      rule.points = {{{0.2, 7.1}, {0.5, 6.5}, {1.2, 5.1}}};
      rule.longest_silence_s = 2;
      rule.open_wait_s = 1;
      break;
    case Eagerness::Auto:
    case Eagerness::Medium:
      rule.points = {{{0.2, 1.6}, {0.5, 1.0}, {1.2, -0.4}}};
      rule.open_wait_s = 0.6;
      break;
    case Eagerness::High:
      rule.points = {{{0.1, -2.0}, {0.5, -2.0}, {1.2, -2.0}}};
      rule.open_wait_s = 0.6;
      break;
  }
  return rule;
}

}  // namespace mynah
