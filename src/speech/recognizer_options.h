// RecognizerOptions: everything that a user can say about how recordings are heard; the defaults
// are the product's. Names follow openai/whisper transcribe.py and faster-whisper, so that people
// find what they know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/turns.h"
#include "speech/voice_detector.h"

namespace mynah {

enum class Task : uint8_t { Transcribe, Translate };

// Cached: cached silence (design.md), the encoder costs what the speech lasts. Full: 30-second
// windows.
enum class AudioContext : uint8_t { Cached, Full };

// Seconds of a recording.
struct ClipRange {
  double start_s = 0;
  double end_s = 0;
};

// How recordings are cut into windows, and what a window is told of the others: the same for every
// family of models.
struct CuttingOptions {
  std::vector<ClipRange> clips;  // empty: all
  bool vad = true;  // voice activity cuts long recordings and keeps silence from the decoder
  VadOptions vad_options{.min_speech_ms = 100};  // a short "no" has 200
  // Speech that voice activity found is heard in pieces of at most this. Measured with tiny.en and
  // three beams on the 96 clips, and on the same joined to 20 minutes: 204 and 298 word errors with
  // 30 s, 199 and 261 with 20, 204 and 297 with 15; attention costs less the shorter they are.
  double chunk_length_s = 20;
  int batch = 8;  // windows decoded together
  int language_detection_segments = 1;
  bool partial_text = true;  // of live sessions: drafts of what is being said

  std::string initial_prompt;
  bool carry_initial_prompt = false;
  std::vector<std::string> hotwords;  // to expect, as they are written (speech/hotwords.h)
  bool condition_on_previous_text = false;
  std::optional<double> hallucination_silence_s;
};

// How a Whisper writes a window down.
struct WhisperOptions {
  AudioContext context = AudioContext::Cached;

  // Measured on the 96 English clips of shared/speech with tiny.en: 219 word errors with one, 203
  // with three and with five; three cost a quarter more time than one, five a half.
  int beam_size = 3;
  int best_of = 5;  // samples a try at temperature > 0
  float patience = 1.0F;
  float length_penalty = 1.0F;      // exponent; 0: none
  float repetition_penalty = 1.0F;  // above 0
  int no_repeat_ngram_size = 0;
  std::vector<float> temperatures = {0.0F, 0.2F, 0.4F, 0.6F,
                                     0.8F, 1.0F};  // tried in order while a result is doubtful
  std::optional<float> compression_ratio_threshold = 2.4F;
  std::optional<float> log_probability_threshold = -1.0F;
  std::optional<float> no_speech_threshold = 0.6F;
  std::optional<float> entropy_threshold;  // whisper.cpp's guard; none: compression ratio

  int max_context_tokens = 223;
  std::vector<int32_t> suppress_tokens = {
      -1};  // -1: the symbols that are not speech (tokenizer.py non_speech_tokens)
  bool suppress_blank = true;
  std::string suppress_regex;
  float max_initial_timestamp_s = 1.0F;
  int max_new_tokens = 224;

  bool operator==(const WhisperOptions&) const = default;
};

// What is asked of a window's text, and how each family goes about it.
struct DecodingOptions {
  std::string language = "auto";  // ISO 639-1 code, English name, or auto
  Task task = Task::Transcribe;
  bool timestamps = true;
  bool words = false;  // times of words
  uint64_t seed = 0;
  WhisperOptions whisper;

  bool operator==(const DecodingOptions&) const = default;
};

struct RecognizerOptions {
  CuttingOptions cutting;
  DecodingOptions decoding;
  // Of recordings: those that somebody waits for go before others. Live sessions always do.
  Urgency urgency = Urgency::Bulk;
  // Who asks: all recordings of one owner share a turn where several are heard; "": each run has a
  // turn of its own.
  std::string owner{};
};

}  // namespace mynah
