// PocketSphinx's decoder with the US-English model that distributions ship.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah {

// A word of an utterance, lower case, with its times from the utterance's begin.
struct SphinxWord {
  std::string text;
  double start_s = 0;
  double end_s = 0;
  float probability = 0;  // posterior in the word lattice
};

// One decoder: one utterance at a time, samples in [-1, 1] at 16 kHz.
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
  // pocketsphinx-testdata's LibriVox sentences come out wrong, and 32 % as they come.
  Result<std::vector<SphinxWord>> decode(std::span<const float> samples);

  // An utterance as it comes: between begin() and end(), samples and the words so far, which may
  // still change.
  Status begin();
  Status push(std::span<const float> samples);
  [[nodiscard]] std::string partial() const;
  Status end();

 private:
  struct State;
  [[nodiscard]] std::vector<SphinxWord> words() const;
  explicit SphinxDecoder(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace mynah
