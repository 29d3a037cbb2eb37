// What passes between mynah and a worker of a voice: its fields, and which answers are possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "place/wire/wire_types.h"
#include "speech/voice_loading.h"
#include "speech/voice_model.h"

namespace mynah::place {

// What a loaded voice model says of itself.
struct VoiceModelFacts {
  std::string name;
  int rate_hz = 0;
  std::vector<VoiceFacts> voices;
  uint64_t most_phonemes = 0;
  std::string phonemes;  // its alphabet, one after the other
  VoiceReading reading;
};

template <>
inline constexpr size_t kWireValues<ReadBy> = static_cast<size_t>(ReadBy::EveryLanguage) + 1;

// A field that is added to one of these structs must be added here: a test counts them.
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
void wire(Archive& a, VoiceModelFile& v) {
  a(v.family, v.path, v.config, v.voices, v.name, v.precision, v.cache_folder);
}

template <class Archive>
void wire(Archive& a, VoiceReading& v) {
  a(v.by, v.language, v.espeak_voice);
}

template <class Archive>
void wire(Archive& a, VoiceModelFacts& v) {
  a(v.name, v.rate_hz, v.voices, v.most_phonemes, v.phonemes, v.reading);
}

// Of a loaded voice.
[[nodiscard]] VoiceModelFacts facts_of(const VoiceModel& voice);

[[nodiscard]] bool is_possible(const VoiceModelFacts& facts);

// What a clause of so many words sounds like.
[[nodiscard]] bool is_possible(const ClauseSound& sound, size_t words);

}  // namespace mynah::place
