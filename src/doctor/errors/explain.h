// What a log complains of, why, and what mends it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// Of a longer log, the end is looked at: that is where a program died.
inline constexpr size_t kMostLogBytes = size_t{16} << 20;

struct Explanation {
  std::string id;  // "E01" of the knowledge base; "library" for a library of CUDA that is missing
  std::string title;
  std::string cause;
  std::string predictor;          // what would have foretold it; may be empty
  std::vector<Remedy> remedies;   // the best first, filled in
  std::vector<std::string> seen;  // where others met it: "SYSTRAN/faster-whisper#885"
  std::string source;
  uint64_t line = 0;    // of the log, from 1, that shows it first
  std::string text;     // that line, at most 300 bytes of printable ASCII
  uint64_t times = 0;   // how often the log shows it
  std::string follows;  // the id of another explanation, whose consequence this is; may be empty
  bool verified = false;
  bool harmless = false;
  bool mention = false;  // its lines speak of the error, and do not say that it happened
  bool guess = false;    // no known error: the nearest one
  double sureness = 1;   // of a guess: the part of its rare words that the line has
};

// Every known error in the log: first those that follow from no other, in the order of the log,
// then their consequences, then what does no harm or is only mentioned. Where none of these is
// there but what does no harm, the nearest known error is guessed, if a line that speaks of a
// failure has half of its rare words. The log may be any bytes. Takes time and memory in proportion
// to it.
[[nodiscard]] std::vector<Explanation> explain(std::string_view log, const Knowledge& knowledge);

}  // namespace mynah::doctor
