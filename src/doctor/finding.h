// What the doctor says: findings, each with its evidence and what mends it, and a verdict for each
// framework on each card.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// How bad a finding is.
enum class Level : uint8_t {
  Good,
  Note,     // worth knowing, nothing fails
  Unknown,  // it may fail: what would tell was not to be seen
  Warning,  // it works, and slower or more fragile than it need be
  Fail,     // it will not work
};

// "good", "note", "unknown", "warning", "fail".
[[nodiscard]] std::string_view level_name(Level level);

// What becomes of a framework on a card, or without one.
enum class Outcome : uint8_t {
  Works,
  WorksSlowly,         // on the processor, without a word
  FailsAtLoad,         // a library is missing or does not fit
  FailsAtFirstKernel,  // "no kernel image is available for execution on the device"
  FailsAtLstm,         // everything works until a recurrent layer
  Unknown,
};

// "works", "works slowly", "fails at load", "fails at the first kernel", "fails at LSTM",
// "unknown".
[[nodiscard]] std::string_view outcome_name(Outcome outcome);

// How bad an outcome is, the less the better: what is not known is worse than what works, and
// better than any failure; failures are as bad as each other.
[[nodiscard]] int badness(Outcome outcome);

// How sure a finding is. Only what is Certain may be a FAIL: the others are at most Unknown.
enum class Certainty : uint8_t {
  Certain,  // it was read here, and the rule behind it has a source that was read
  Likely,   // it follows from facts that nobody verified
  Guess,
};

// "certain", "likely", "guess".
[[nodiscard]] std::string_view certainty_name(Certainty certainty);

// Something that was seen, and where.
struct Evidence {
  std::string text;   // "libtorch_cuda.so holds sm_50, sm_60, ... sm_90, and no PTX"
  std::string where;  // a path, "path:line", or the source of a fact

  bool operator==(const Evidence&) const = default;
};

// One of several things that mend it together.
struct RemedyStep {
  std::string command;  // one line for a shell; empty: only words help
  std::string text;     // what it does, as an imperative

  bool operator==(const RemedyStep&) const = default;
};

// What mends it.
struct Remedy {
  std::string command;  // one line for a shell or a recipe; empty: only words help
  std::string text;     // what it does, as an imperative
  std::string cost;     // what it would change elsewhere; empty: nothing that is known of
  // Where one command does not do: all of them are needed, in this order; `command` is empty then,
  // and `text` says what they come to.
  std::vector<RemedyStep> steps = {};

  bool operator==(const Remedy&) const = default;
};

struct Finding {
  std::string rule;  // words that do not change: "kernel image"
  Level level = Level::Note;
  Certainty certainty = Certainty::Certain;
  std::string subject;  // "torch 2.7.1+cu126 in /opt/venv"; "driver"
  std::string card;     // its name; empty: whatever the card
  std::string text;     // what will happen and why, a sentence or two
  std::vector<Evidence> evidence;
  std::vector<Remedy> remedies;  // the best first
  std::string error;  // what the user would see: "CUDA error: no kernel image is available ..."

  bool operator==(const Finding&) const = default;
};

// A framework on a card.
struct FrameworkVerdict {
  std::string framework;    // "torch"
  std::string version;      // "2.7.1+cu126"
  std::string environment;  // path
  std::string card;         // its name; empty: there is none
  Outcome outcome = Outcome::Unknown;
  std::string reason;  // a clause

  bool operator==(const FrameworkVerdict&) const = default;
};

// A model in a plan for a card's memory. Sizes are of the card's memory, in MiB.
struct PlannedModel {
  std::string model;         // "whisper large-v3"
  bool on_card = false;      // else the processor computes it
  std::string storage;       // of its weights: "int8"; empty: as it comes, or on the processor
  std::string engine;        // that was measured: "faster-whisper"; empty: the facts say it
  uint64_t least_mib = 0;    // 0 on the processor
  uint64_t most_mib = 0;     // at its peak
  std::string source;        // of these numbers
  bool as_asked_for = true;  // false: the plan changes it

  bool operator==(const PlannedModel&) const = default;
};

// Models that fit on a card together, at their peaks.
struct MemoryPlan {
  std::string card;
  uint64_t memory_mib = 0;    // of the card
  uint64_t headroom_mib = 0;  // that is to stay free
  uint64_t taken_mib = 0;     // at most, by what is on the card; never above memory less headroom
  std::vector<PlannedModel> models;

  bool operator==(const MemoryPlan&) const = default;
};

struct Report {
  std::vector<FrameworkVerdict> verdicts;
  std::vector<Finding> findings;       // the worst first
  std::vector<MemoryPlan> plans = {};  // one for each card on which the wanted models can be held

  // The worst of all findings; Good where there is none.
  [[nodiscard]] Level worst() const;
};

}  // namespace mynah::doctor
