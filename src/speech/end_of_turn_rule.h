// When a turn is at its end: by how long nothing is said, how likely its sound is an end, and what
// was said. The figures are chosen by bench/turns.py: docs/turns.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "speech/open_clause.h"

namespace mynah {

// How soon a pause is taken for an end, as OpenAI's semantic_vad calls it; Auto is Medium.
enum class Eagerness : uint8_t { Auto, Low, Medium, High };

// "auto", "low", "medium" or "high"; none for anything else.
[[nodiscard]] std::optional<Eagerness> parse_eagerness(std::string_view text);

[[nodiscard]] std::string_view name_of(Eagerness eagerness);

// What is known of a turn at a moment of it, in seconds from when something was last so.
struct TurnMoment {
  double length_s = 0;              // since it began
  double silence_s = 0;             // since the detector heard a voice
  double faint_s = 0;               // since a sound as loud as the turn's speaker
  double wordless_s = 0;            // since the transcript got a word; 0: there is none
  std::optional<float> score = {};  // of its sound, the pause's lowest so far; none: nobody asked
  ClauseState clause = ClauseState::Unknown;
  std::optional<double> fall_db = {};  // TurnLevel::fall_db() where the pause began
};

// Why a turn ended.
enum class TurnEnd : uint8_t {
  Said,          // it sounds as if all was said
  Silence,       // nothing is said for long
  AnotherVoice,  // somebody speaks who is fainter than the turn's speaker was
  Wordless,      // there is a voice, and no word in it
  TooLong        // nobody may speak longer
};

struct EndOfTurnRule {
  // How high a score's logit ends a turn after so much silence; between two the line through them.
  struct Point {
    double silence_s = 0;
    double least_logit = 0;
  };

  std::array<Point, 3> points;  // before the first the turn goes on; behind the last as there
  double open_clause = 0;       // logits that an open clause takes from the score
  double fall_gain = 0;         // logits that each decibel of fall beyond the usual gives
  double most_given = 0;        // logits that a fall gives or takes at most
  double longest_silence_s = 2;
  double open_wait_s = 0;  // so much longer behind an open clause
  double longest_faint_s = 1;
  double longest_wordless_s = 4;
  double longest_turn_s = 30;

  // Between the medians of pauses (2.0) and of ends (6.7); taken for a turn's own where it is not
  // known.
  static constexpr double kUsualFall_db = 4;

  // Silence from which on a score counts.
  [[nodiscard]] double first_look_s() const { return points.front().silence_s; }

  [[nodiscard]] std::optional<TurnEnd> end_at(const TurnMoment& moment) const;
};

[[nodiscard]] EndOfTurnRule end_of_turn_rule(Eagerness eagerness);

}  // namespace mynah
