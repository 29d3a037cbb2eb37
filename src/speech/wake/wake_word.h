// WakeWord: a word that microWakeWord was taught, and WakeListener: somebody who waits for such
// words all day.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/wake_word/micro_features.h"
#include "models/wake_word/network.h"

namespace mynah {

// What the file beside a network says (microWakeWord's manifest, version 2).
struct WakeWordFacts {
  std::string name;    // "okay_nabu", its file's
  std::string phrase;  // "Okay Nabu"
  std::string author;
  std::string website;
  std::vector<std::string> languages;  // that it was taught: "en"
  // The word is there once the mean of so many probabilities is above the cutoff.
  double cutoff = 0.9;
  int window = 5;
};

// Const; shared by all that listen.
class WakeWord {
 public:
  // `path`: a network (NAME.tflite), with NAME.json beside it, or a folder that holds one such
  // pair. NotFound where there is none, InvalidInput and Unsupported for what is not understood.
  static Result<std::shared_ptr<const WakeWord>> load(const std::string& path);

  [[nodiscard]] const WakeWordFacts& facts() const { return facts_; }

  [[nodiscard]] const wake_word::WakeNetwork& network() const { return network_; }

 private:
  WakeWord(WakeWordFacts facts, wake_word::WakeNetwork network)
      : facts_(std::move(facts)), network_(std::move(network)) {}

  WakeWordFacts facts_;
  wake_word::WakeNetwork network_;
};

// Reads a manifest. `name` is its word's, `path` for messages.
[[nodiscard]] Result<WakeWordFacts> read_wake_manifest(const std::string& text,
                                                       const std::string& name,
                                                       const std::string& path);

struct WakeDetection {
  std::string name;        // WakeWordFacts::name
  int64_t sample = 0;      // that was the last one heard of it
  double probability = 0;  // mean of the window
  bool sure = true;        // false: above WakeOptions::maybe alone

  bool operator==(const WakeDetection&) const = default;
};

struct WakeOptions {
  double cutoff = 0;        // instead of each word's own; 0: that
  double refractory_s = 2;  // after a word so long none of its kind is told again
  // Above this it may be the word, which somebody is to look at again; 0: nobody will. What may be
  // one is told half a second after the last at the soonest.
  double maybe = 0;
};

// One stream of samples at 16 kHz; one thread at a time. What it finds does not hang on how they
// come.
class WakeListener {
 public:
  WakeListener(std::vector<std::shared_ptr<const WakeWord>> words, const WakeOptions& options);

  // Listens to what comes next, in [-1, 1].
  [[nodiscard]] std::vector<WakeDetection> push(std::span<const float> samples);

  // Somebody looked again at what may have been the word and it was: for the refractory time from
  // `sample` on it is not told again. False: it is within that of another.
  bool confirm(const std::string& name, int64_t sample);

  // As before the first sample.
  void reset();

  // The highest mean of each word's window since this was asked last, in the order of the words.
  [[nodiscard]] std::vector<double> take_highest();

 private:
  // What one word carries.
  struct Hearing {
    std::shared_ptr<const WakeWord> word;
    wake_word::WakeState state;
    std::vector<wake_word::FeatureFrame> waiting;  // less than a step
    std::deque<double> window;
    int64_t deaf_until = 0;   // sample
    int64_t maybe_after = 0;  // where it may be one again
    double highest = 0;
  };

  void hear(Hearing& hearing, const wake_word::FeatureFrame& frame,
            std::vector<WakeDetection>& found);
  [[nodiscard]] int64_t refractory() const;  // samples

  WakeOptions options_;
  wake_word::MicroFeatures features_;
  std::vector<Hearing> hearings_;
  int64_t heard_ = 0;  // samples, as far as the frame that is heard
  int64_t frames_ = 0;
};

}  // namespace mynah
