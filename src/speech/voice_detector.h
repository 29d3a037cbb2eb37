// VoiceDetector: where in a recording somebody speaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/backend.h"

namespace mynah {

// The usual knobs, with the defaults of the reference (silero-vad utils_vad.py
// get_speech_timestamps).
struct VadOptions {
  float threshold = 0.5F;  // a frame at or above it begins speech
  float negative_threshold =
      -1.0F;  // a frame below it ends speech; negative: max(threshold - 0.15, 0.01)
  int min_speech_ms = 250;
  double max_speech_s = std::numeric_limits<double>::infinity();
  int min_silence_ms = 100;
  int speech_pad_ms = 30;
  // Where max_speech_s cuts: at the longest silence so far that is longer than this, else at once.
  int min_silence_at_max_speech_ms = 98;
};

// A run of speech, in seconds from the start of the recording.
struct SpeechSpan {
  double start_s = 0;
  double end_s = 0;
};

// Turns frame probabilities into spans, frame by frame, with bounded memory: the reference's state
// machine.
class SpeechSegmenter {
 public:
  SpeechSegmenter(const VadOptions& options, double frame_s);

  // Takes the next frames' probabilities; returns spans that are complete and can change no more.
  std::vector<SpeechSpan> push(std::span<const float> probabilities);
  // Ends the recording at `duration_s`; returns the spans still open.
  std::vector<SpeechSpan> flush(double duration_s);
  void reset();
  // Ends the span that is open here, without padding, and returns what is complete by that.
  std::vector<SpeechSpan> cut();
  // True between a span's begin and its end: what a live display shows.
  [[nodiscard]] bool speaking() const;
  // No span that was not handed out begins before: the begin of the one that is open, or that may
  // still open.
  [[nodiscard]] double known_until() const;
  // Whether there is a span that was not handed out: it goes on, or has just ended.
  [[nodiscard]] bool holds_speech() const;
  // Whether the last frames were of no speech, though the span before them may still go on.
  [[nodiscard]] bool pausing() const;

  ~SpeechSegmenter();
  SpeechSegmenter(SpeechSegmenter&&) noexcept;
  SpeechSegmenter& operator=(SpeechSegmenter&&) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A model that gives each frame a probability of speech. Const after load, shared by sessions.
class VoiceDetector {
 public:
  virtual ~VoiceDetector() = default;

  // One recording's carried state.
  class Session {
   public:
    virtual ~Session() = default;
    // Takes any number of samples; returns the probabilities of the frames they complete.
    virtual Result<std::vector<float>> push(std::span<const float> samples) = 0;
    // Pads the last frame with zeros; returns its probability, if any samples were left.
    virtual Result<std::vector<float>> flush() = 0;
    virtual void reset() = 0;

    // What the session knows of its recording so far, as bytes that restore() takes: of another
    // session of such a detector, on any device of this machine. Errors: those of the device.
    [[nodiscard]] virtual Result<std::vector<std::byte>> save() const = 0;
    // Goes on where the other session was when it was saved. The bytes may come from anywhere:
    // InvalidInput where they are no such state, or not of numbers; the session is then as it was.
    virtual Status restore(std::span<const std::byte> state) = 0;
  };

  [[nodiscard]] virtual std::unique_ptr<Session> session() const = 0;
  // Several whole recordings at once: the same numbers as one by one, in less time.
  [[nodiscard]] virtual Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const = 0;
  [[nodiscard]] virtual int rate_hz() const = 0;
  [[nodiscard]] virtual double frame_s() const = 0;
  // "silero v6" or "builtin".
  [[nodiscard]] virtual std::string name() const = 0;

  // Where it computes now: "cpu", "cuda:0".
  [[nodiscard]] virtual std::string device() const { return "cpu"; }

  // The user's knobs as they are meant where a recogniser hears what is found: it loses words that
  // are left out, and writes nothing where it hears none.
  [[nodiscard]] virtual VadOptions for_recogniser(const VadOptions& options) const {
    return options;
  }

  // Whether what it finds, by for_recogniser's knobs, is speech. Where it is not sure, the
  // recogniser has to be.
  [[nodiscard]] virtual bool is_sure() const { return true; }
};

// Silero from a model file of any format (GGUF, safetensors, ONNX, ggml), for 8000 or 16000 Hz.
Result<std::shared_ptr<const VoiceDetector>> load_silero(const std::string& path, int rate_hz,
                                                         Backend& backend);

// The small detector of our own that needs no weights, 16 kHz.
std::shared_ptr<const VoiceDetector> builtin_voice_detector();

// The same detector, which hears quiet recordings louder, and recordings with a steady sound below
// speech without it (AutomaticLevel).
std::shared_ptr<const VoiceDetector> with_automatic_level(
    std::shared_ptr<const VoiceDetector> detector);

}  // namespace mynah
