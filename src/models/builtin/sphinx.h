// PocketSphinx's decoder with the US-English model that distributions ship.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"

namespace mynah {

// A word of an utterance, lower case, with its times from the utterance's begin.
struct SphinxWord {
  std::string text;
  double start_s = 0;
  double end_s = 0;
  float probability = 0;  // posterior in the word lattice
};

// One decoder: one utterance at a time, samples in [-1, 1] at 16 kHz. What it says of an utterance
// does not hang on those before.
class SphinxDecoder {
 public:
  // Environment where the model is not installed: says which package has it.
  static Status check_installed();

  // Takes about half a second. Environment where check_installed() fails.
  static Result<SphinxDecoder> open();

  ~SphinxDecoder();
  SphinxDecoder(SphinxDecoder&&) noexcept;
  SphinxDecoder& operator=(SphinxDecoder&&) noexcept;

  // The words of a whole utterance. Levels are normalised over all of it: 27 % of the words of
  // pocketsphinx-testdata's LibriVox sentences come out wrong, and 32 % as they come. None once
  // it is stopped, which is asked some twenty times in a second of work.
  Result<std::vector<SphinxWord>> decode(std::span<const float> samples,
                                         FunctionRef<bool()> stopped);

  // The words so far of an utterance that goes on, which may still change. Where the samples begin
  // with those of the draft before, nothing having been decoded between, only what is new is.
  // Nothing once it is stopped.
  Result<std::string> draft(std::span<const float> samples, FunctionRef<bool()> stopped);

 private:
  struct State;
  explicit SphinxDecoder(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace mynah
