// SpeakObserver: takes clauses to the outputs of `mynah speak`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/speak/sound_output.h"
#include "speech/synthesizer.h"
#include "speech/transcript.h"

namespace mynah::cli {

// Keeps what captions want of the clauses, and prints each as a line where the context has --json.
class SpeakObserver final : public SpeechObserver {
 public:
  SpeakObserver(Context& context, std::vector<std::unique_ptr<SoundOutput>> outputs, int rate_hz,
                bool captions);

  Status on_clause(const SpokenClause& clause) override;
  void on_warning(const std::string& text) override;

  // Fills up with silence where there are fewer samples.
  Status silence_until(size_t samples);

  // Text comes now: everything is loaded.
  void begin() { begin_ = Clock::now(); }

  // Everything was said.
  Status finish();

  // Says that it was stopped: what was said is kept where a file can be. Gives the files' names.
  Result<std::vector<std::string>> keep_part();

  [[nodiscard]] double duration_s() const { return static_cast<double>(samples_) / rate_hz_; }

  [[nodiscard]] bool has_spoken() const { return spoken_; }

  // Where the text ends that was spoken: bytes of all text.
  [[nodiscard]] size_t text_end() const { return text_end_; }

  // From begin() to the first samples, and to finish().
  [[nodiscard]] double first_s() const { return first_s_; }

  [[nodiscard]] double spent_s() const { return spent_s_; }

  [[nodiscard]] const Transcript& transcript() const { return transcript_; }

  // What was told of the text meanwhile.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  // Where the sound went, in words.
  [[nodiscard]] std::string names() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds() const;

  Context& context_;
  std::vector<std::unique_ptr<SoundOutput>> outputs_;
  int rate_hz_;
  bool captions_;
  Clock::time_point begin_;
  size_t samples_ = 0;
  bool spoken_ = false;  // not only silence
  size_t text_end_ = 0;
  double first_s_ = 0;
  double spent_s_ = 0;
  Transcript transcript_;
  std::vector<std::string> warnings_;
};

}  // namespace mynah::cli
