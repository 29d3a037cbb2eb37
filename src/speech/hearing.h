// What is heard in a window of sound, and what is known of who hears it: the same for every family
// of models.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/result.h"
#include "speech/recognizer_options.h"
#include "speech/transcript.h"

namespace mynah {

inline constexpr int kHearingRate_hz = 16000;

[[nodiscard]] inline double seconds_of(int64_t samples) {
  return static_cast<double>(samples) / kHearingRate_hz;
}

[[nodiscard]] inline int64_t samples_of(double seconds) {
  return std::llround(seconds * kHearingRate_hz);
}

// Whether nothing is written in a window's text.
[[nodiscard]] inline bool says_nothing(std::string_view text) {
  return trimmed(text, " \t\n").empty();
}

// One window to be written down.
struct WindowTask {
  std::span<const float> samples;       // 16 kHz mono, at most HearingFacts::longest_window_s
  std::vector<std::string> prompts;     // that it is told: text before the recording
  std::vector<int32_t> previous;        // tokens of the segments before it; may be empty
  std::string language;                 // ISO 639-1 code; "": to be found out
  std::vector<std::string> hotwords{};  // that are likelier, as they are written
  std::vector<Segment> begun{};         // of a draft of it: the text begins with this, word by word
  uint64_t seed = 0;                    // of what is drawn by chance
  bool surely_speech = true;            // false: text that is in doubt itself is nobody's
  bool alone = false;                   // no window hears its end again: all of its text is kept
  size_t job = 0;                       // whose window it is, and where in its recording it begins:
  double begin_s = 0;                   // for what is told of it, not for the text
  std::stop_token stop{};  // its own: it leaves its batch between two tokens, and its text means
                           // nothing

  [[nodiscard]] double duration_s() const {
    return static_cast<double>(samples.size()) / kHearingRate_hz;
  }
};

// A word with its times from the start of the window.
struct HeardWord {
  std::string text;
  std::vector<int32_t> tokens;  // of the segments' that spell it
  double start_s = 0;
  double end_s = 0;
  float probability = 0;  // mean of its tokens'
};

// How far a window's text can be trusted.
struct HeardDoubt {
  float mean_log_probability = 0;
  float no_speech_probability = 0;
  float compression_ratio = 0;
  float temperature = 0;  // that it was drawn at
};

// A window's text.
struct HeardWindow {
  // Times from the start of the window; without numbers, and without words but for a family that
  // times them by itself (HearingFacts::times_words).
  std::vector<Segment> segments;
  std::vector<HeardWord> words;  // of all segments, in order, where they were asked for; else none
  std::string language;          // that was heard or given; "": the model knows one only
  float language_probability = 1;
  HeardDoubt doubt;
  double next_s = 0;                 // where the next window begins: the text is whole up to there
  bool nothing_after = false;        // it is sure that nobody speaks behind the last segment
  bool silent = false;               // nobody speaks: there is no text
  bool reliable = true;              // enough to tell the windows behind it
  bool decoded_again = false;        // because the first text was in doubt
  std::optional<int64_t> shorter{};  // a loop: not to be taken, but so many samples heard alone

  [[nodiscard]] std::string text() const { return text_of(segments); }
};

// A model's sizes under the names that whisper.cpp's JSON has for them; 0 and "" where the family
// has no such thing.
struct ModelFacts {
  std::string type;  // "tiny", "base", ..., "large"
  int64_t n_vocab = 0;
  int64_t n_audio_ctx = 0;
  int64_t n_audio_state = 0;
  int64_t n_audio_head = 0;
  int64_t n_audio_layer = 0;
  int64_t n_text_ctx = 0;
  int64_t n_text_state = 0;
  int64_t n_text_head = 0;
  int64_t n_text_layer = 0;
  int64_t n_mels = 0;
  int64_t ftype = 0;  // ggml's number of the weights' storage type: 0 f32, 1 f16
};

// What a model of speech to text can do.
struct HearingFacts {
  std::string model;                   // "tiny.en"
  std::vector<std::string> languages;  // ISO 639-1 codes that it writes; one at least
  double longest_window_s = 0;         // of a task
  double full_window_s = 0;            // that a full pass over a model of these sizes computes
  bool wants_vad = false;       // hears what voice activity cut better than what the clock cuts
  bool takes_prompt = false;    // is told what was said before
  bool takes_hotwords = false;  // makes the words of WindowTask::hotwords likelier
  bool times_words = false;     // by itself: its segments come with their words, where those were
                                // asked for, and need no mending
  bool hears_together = true;   // several windows take less time than one after the other
  bool knows_silence = true;  // writes little where nobody speaks: the detector may lean to speech
  std::string note{};         // what users should know of its texts; "": nothing
  ModelFacts sizes;

  [[nodiscard]] bool multilingual() const { return languages.size() > 1; }

  // The code of a language that was asked for by code, name or alias; "": auto, or the model does
  // not choose between languages.
  [[nodiscard]] std::string language_asked(const std::string& language) const;
};

// A model without its weights: for who prepares its input and reads what it gives, wherever that is
// computed.
class HearingHeader {
 public:
  virtual ~HearingHeader() = default;

  [[nodiscard]] virtual const HearingFacts& facts() const = 0;

  // Refuses what the model cannot do: translation with an English model, unknown languages, tokens
  // that it does not have.
  [[nodiscard]] virtual Status check(const DecodingOptions& options) const = 0;

  // How much more a window costs the decoder than with the default options; 1 or more.
  [[nodiscard]] virtual double effort(const DecodingOptions& options) const = 0;

  // The bytes of one of Segment::tokens, which may be part of a character; empty where the family
  // has no tokens.
  [[nodiscard]] virtual std::string token_text(int32_t token) const = 0;
};

// A window's segments as those of a recording in which the window begins at offset_s.
[[nodiscard]] std::vector<Segment> segments_at(const HeardWindow& window, double offset_s);

// Keeps a chunk's segments to where its detector heard speech, in seconds of the recording: one
// that begins in the silence before it, or ends in that behind it, is cut to it, and so are their
// words. What is all silence is left as it is.
void keep_to_speech(std::span<Segment> segments, double begin_s, double end_s);

// Whether the text of a window that begins at `begin_s` ends long before its speech does, at
// `speech_s`: a model that has heard somebody loud may end there, and leave out who speaks 15 dB
// lower behind him. Heard again from there, 42 pairs of clips, the second one 20 dB lower, have 71
// word errors of 842, where they had 83, and the 96 clips joined to one recording 224 where they
// had 258; the conditions of shared/cases/mixes.py keep theirs.
[[nodiscard]] bool ends_early(std::span<const Segment> segments, double begin_s, double speech_s);

}  // namespace mynah
