// What passes between mynah and a worker of windows: their fields, and which answers are possible.
#pragma once

#include <cstddef>

#include "place/wire/wire_types.h"
#include "speech/hearing.h"
#include "speech/window_model.h"

namespace mynah::place {

template <>
inline constexpr size_t kWireValues<Task> = static_cast<size_t>(Task::Translate) + 1;
template <>
inline constexpr size_t kWireValues<AudioContext> = static_cast<size_t>(AudioContext::Full) + 1;

// A field that is added to one of these structs must be added here: a test counts them.
template <class Archive>
void wire(Archive& a, WhisperOptions& v) {
  a(v.context, v.beam_size, v.best_of, v.patience, v.length_penalty, v.repetition_penalty,
    v.no_repeat_ngram_size, v.temperatures, v.compression_ratio_threshold,
    v.log_probability_threshold, v.no_speech_threshold, v.entropy_threshold, v.max_context_tokens,
    v.suppress_tokens, v.suppress_blank, v.suppress_regex, v.max_initial_timestamp_s,
    v.max_new_tokens);
}

template <class Archive>
void wire(Archive& a, DecodingOptions& v) {
  a(v.language, v.task, v.timestamps, v.words, v.seed, v.whisper);
}

template <class Archive>
void wire(Archive& a, WindowTask& v) {
  a(v.samples, v.prompts, v.previous, v.language, v.hotwords, v.begun, v.seed, v.surely_speech,
    v.alone);
}

template <class Archive>
void wire(Archive& a, TimestampToken& v) {
  a(v.token, v.log_probability, v.position);
}

template <class Archive>
void wire(Archive& a, Segment& v) {
  // Numbers, words and speakers are of recordings.
  a(v.start_s, v.end_s, v.text, v.tokens, v.token_log_probabilities, v.opening, v.closing,
    v.temperature, v.mean_log_probability, v.compression_ratio, v.no_speech_probability);
}

template <class Archive>
void wire(Archive& a, HeardWord& v) {
  a(v.text, v.tokens, v.start_s, v.end_s, v.probability);
}

template <class Archive>
void wire(Archive& a, HeardDoubt& v) {
  a(v.mean_log_probability, v.no_speech_probability, v.compression_ratio, v.temperature);
}

template <class Archive>
void wire(Archive& a, HeardWindow& v) {
  a(v.segments, v.words, v.language, v.language_probability, v.doubt, v.next_s, v.nothing_after,
    v.silent, v.reliable, v.decoded_again, v.shorter);
}

template <class Archive>
void wire(Archive& a, WindowTimings& v) {
  a(v.mel_ms, v.encoder_ms, v.decoder_ms, v.words_ms);
}

template <class Archive>
void wire(Archive& a, WindowsFile& v) {
  a(v.path, v.precision, v.cache_folder);
}

// A text of so many samples that refers to nothing but itself and the model's tokens.
[[nodiscard]] bool is_possible(const HeardWindow& heard, const HearingFacts& facts, size_t samples);

}  // namespace mynah::place
