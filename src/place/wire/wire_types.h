// The fields of what passes between mynah and its workers (place/wire/wire.h), each once for
// both ways.
#pragma once

#include "place/terms/measurement.h"
#include "place/terms/workload.h"
#include "place/wire/fault.h"
#include "place/wire/wire.h"
#include "place/wire/worker_protocol.h"
#include "speech/voice_model.h"
#include "speech/window_model.h"

namespace mynah::place {

template <>
inline constexpr size_t kWireValues<ErrorCode> = static_cast<size_t>(ErrorCode::Usage) + 1;
template <>
inline constexpr size_t kWireValues<DType> = kDTypeCount;
template <>
inline constexpr size_t kWireValues<Precision> = static_cast<size_t>(Precision::Fast) + 1;
template <>
inline constexpr size_t kWireValues<Task> = static_cast<size_t>(Task::Translate) + 1;
template <>
inline constexpr size_t kWireValues<AudioContext> = static_cast<size_t>(AudioContext::Full) + 1;
template <>
inline constexpr size_t kWireValues<ReadBy> = static_cast<size_t>(ReadBy::EveryLanguage) + 1;
template <>
inline constexpr size_t kWireValues<FaultKind> = static_cast<size_t>(FaultKind::Stop) + 1;
template <>
inline constexpr size_t kWireValues<Stage> = kStages.size();
template <>
inline constexpr size_t kWireValues<StageGroup> = static_cast<size_t>(StageGroup::Tts) + 1;

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
  a(v.samples, v.prompts, v.previous, v.language, v.seed, v.surely_speech);
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
void wire(Archive& a, PhonemeWord& v) {
  a(v.text, v.phonemes, v.space_after, v.begin, v.end);
}

template <class Archive>
void wire(Archive& a, VoiceSettings& v) {
  a(v.voice, v.speed, v.noise_scale, v.noise_w, v.seed);
}

template <class Archive>
void wire(Archive& a, SoundSpan& v) {
  a(v.begin, v.end);
}

template <class Archive>
void wire(Archive& a, PhonemeSound& v) {
  a(v.symbol, v.span);
}

template <class Archive>
void wire(Archive& a, ClauseSound& v) {
  a(v.samples, v.words);
}

template <class Archive>
void wire(Archive& a, VoiceFacts& v) {
  a(v.name, v.language, v.sex);
}

template <class Archive>
void wire(Archive& a, VoiceFile& v) {
  a(v.facts, v.path);
}

template <class Archive>
void wire(Archive& a, DetectorFile& v) {
  a(v.path, v.rate_hz);
}

template <class Archive>
void wire(Archive& a, WindowsFile& v) {
  a(v.path, v.precision, v.cache_folder);
}

template <class Archive>
void wire(Archive& a, VoiceModelFile& v) {
  a(v.family, v.path, v.config, v.voices, v.name, v.precision, v.cache_folder);
}

template <class Archive>
void wire(Archive& a, StageDevice& v) {
  a(v.device, v.storage);
}

template <class Archive>
void wire(Archive& a, DeviceSettings& v) {
  a(v.cuda_driver, v.visible_devices, v.cuda_level, v.image_folder, v.threads);
}

template <class Archive>
void wire(Archive& a, Fault& v) {
  a(v.stage, v.kind, v.call);
}

template <class Archive>
void wire(Archive& a, DetectorFacts& v) {
  a(v.rate_hz, v.frame_s, v.name);
}

template <class Archive>
void wire(Archive& a, VoiceReading& v) {
  a(v.by, v.language, v.espeak_voice);
}

template <class Archive>
void wire(Archive& a, VoiceModelFacts& v) {
  a(v.name, v.rate_hz, v.voices, v.most_phonemes, v.phonemes, v.reading);
}

template <class Archive>
void wire(Archive& a, StageReport& v) {
  a(v.stage, v.device, v.architecture, v.bytes, v.operations, v.launches, v.milliseconds,
    v.memory_free, v.memory_total);
}

template <class Archive>
void wire(Archive& a, ProbeStage& v) {
  a(v.stage, v.values);
}

template <class Archive>
void wire(Archive& a, Probe& v) {
  a(v.stages, v.sound_s);
}

template <class Archive>
void wire(Archive& a, ProbeTime& v) {
  a(v.stage, v.milliseconds, v.longest_step_ms, v.step_work);
}

template <class Archive>
void wire(Archive& a, ProbeReport& v) {
  a(v.probe, v.times);
}

template <class Archive>
void wire(Archive& a, WindowMemory& v) {
  a(v.bytes, v.window_bytes);
}

template <class Archive>
void wire(Archive& a, FullWindow& v) {
  a(v.memory, v.times);
}

template <class Archive>
void wire(Archive& a, OperationOutcome& v) {
  a(v.name, v.values);
}

template <class Archive>
void wire(Archive& a, Measurement& v) {
  a(v.stage, v.device, v.storage, v.passed, v.failure, v.ms_per_unit, v.longest_step_ms,
    v.step_work, v.bytes, v.window_bytes, v.worst_error, v.error_bound);
}

template <class Archive>
void wire(Archive& a, Error& v) {
  a(v.code, v.message);
}

}  // namespace mynah::place
