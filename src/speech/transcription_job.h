// TranscriptionJob: one recording on its way to text. It reads audio as it is needed, finds speech,
// hands out windows to be decoded and puts what comes back in order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/source.h"
#include "speech/hearing.h"
#include "speech/recognizer_options.h"
#include "speech/sample_buffer.h"
#include "speech/turn_detector.h"

namespace mynah {

class TranscriptionJob {
 public:
  // `voice` may be null: then every part of the recording is heard.
  TranscriptionJob(std::shared_ptr<const HearingHeader> header, RecognizerOptions options,
                   const VoiceDetector* voice, std::unique_ptr<AudioSource> source,
                   uint64_t number);

  // Reads until `ahead` windows are ready, the recording ends or stop is requested. An error ends
  // the recording where it was met: what follows a hole would pass for what follows the text.
  Status read_ahead(size_t ahead, const std::stop_token& stop);

  // A window that is ready and has not been handed out, if there is one; the samples stay valid
  // until its text is accepted. `ticket` names it.
  [[nodiscard]] std::optional<WindowTask> next_window(size_t& ticket);

  void accept(size_t ticket, const HeardWindow& heard);

  // Segments that change no more, in order of time, taken away.
  [[nodiscard]] std::vector<Segment> take_segments();

  // Nothing is left to read or to decode.
  [[nodiscard]] bool finished() const;

  // Seconds done, and seconds in all where known.
  [[nodiscard]] double done_s() const;

  [[nodiscard]] std::optional<double> duration_s() const { return source_->duration_s(); }

  // About how many windows that need not wait for another are still to be handed out; nothing where
  // the recording's length is unknown.
  [[nodiscard]] std::optional<size_t> windows_left() const;

  // Milliseconds spent on voice activity.
  [[nodiscard]] double vad_ms() const { return vad_ms_; }

  // What is known of the recording as a whole; segments and the device are not in it.
  [[nodiscard]] Transcript summary() const;

 private:
  // A stretch that is heard window after window.
  struct Stretch {
    size_t ticket = 0;
    SampleRange range;           // may end later than what has been read
    SampleRange speech;          // where in it somebody speaks; all of it where no one looked
    std::vector<float> samples;  // of all of it, where voice activity found it; else samples_ has
                                 // them
    int64_t seek = 0;            // where the next window begins
    int64_t window = 0;          // samples of the window that is being decoded; 0: none is
    bool surely_speech = true;
    int64_t loop_end = 0;  // before it windows have most_window samples at most
    int64_t most_window = 0;
    std::vector<Segment> segments;
  };

  // `speech`: how far somebody speaks in it.
  Stretch& add_stretch(const SampleRange& range, const SampleRange& speech);
  void add_turns(std::span<const Turn> turns);
  Status read_piece(const std::stop_token& stop);
  Status find_speech(std::span<const float> samples, const std::stop_token& stop);
  // The recording ends here. Errors: the detector's; speech that it did not tell of is not heard.
  Status end_recording();
  // No more is read; what was found is heard.
  void stop_reading();
  [[nodiscard]] bool done(const Stretch& stretch) const;
  [[nodiscard]] bool ready(const Stretch& stretch) const;
  [[nodiscard]] std::span<const float> window_of(const Stretch& stretch) const;
  [[nodiscard]] size_t ready_windows() const;
  // Windows follow each other: one needs what the one before it gave.
  [[nodiscard]] bool sequential() const;
  [[nodiscard]] std::vector<std::string> prompts() const;
  void learn_language(const HeardWindow& heard);
  // Sets the words of a window's segments; returns where the next window begins.
  [[nodiscard]] int64_t time_words(const Stretch& stretch, const HeardWindow& heard,
                                   std::vector<Segment>& segments);
  void remember_text(const HeardWindow& heard, std::span<const Segment> segments);
  void retire_finished();

  [[nodiscard]] const HearingFacts& facts() const { return header_->facts(); }

  std::shared_ptr<const HearingHeader> header_;
  RecognizerOptions options_;
  int64_t window_samples_;  // of the longest window
  std::unique_ptr<AudioSource> source_;
  uint64_t number_;
  SampleBuffer samples_;  // that may be asked for again: what lies between the stretches of speech
                          // is not kept
  std::vector<float> piece_;
  bool ended_ = false;
  std::vector<SampleRange> clips_;  // what is heard; never empty
  int64_t least_samples_ = 0;       // a rest shorter than this is not worth a window

  std::optional<TurnDetector> turns_;  // none: everything is speech
  double vad_ms_ = 0;

  std::deque<Stretch> stretches_;
  size_t next_ticket_ = 0;
  std::vector<Segment> ready_segments_;
  int64_t next_id_ = 0;
  int64_t done_samples_ = 0;

  std::vector<int32_t> previous_;  // text of the windows before
  bool begun_ = false;             // a window has been handed out
  double last_speech_s_ = 0;

  // What a window was heard to be spoken in.
  struct LanguageGuess {
    std::string language;
    float probability = 0;
  };

  std::string language_;  // "": unknown
  float language_probability_ = 0;
  std::vector<LanguageGuess> guesses_;  // of the first windows
  int decoded_again_ = 0;
};

}  // namespace mynah
