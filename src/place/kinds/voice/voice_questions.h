// What a mynah asks another of a voice: the fields, and what of them can be answered at all.
#pragma once

#include <string>
#include <vector>

#include "place/kinds/voice/voice_wire.h"
#include "speech/voice_model.h"

namespace mynah::place {

// kVoiceRoute -> VoiceAnswer.
struct VoiceQuestion {
  std::string digest;  // of the model (shared_digest())
  std::string voice;   // whose facts are wanted; "": the model's own choice
};

struct VoiceAnswer {
  VoiceModelFacts model;
  VoiceFacts voice;
};

// kClauseRoute -> ClauseSound.
struct ClauseQuestion {
  std::string digest;
  std::vector<PhonemeWord> words;
  VoiceSettings settings;
};

template <class Archive>
void wire(Archive& a, VoiceQuestion& v) {
  a(v.digest, v.voice);
}

template <class Archive>
void wire(Archive& a, VoiceAnswer& v) {
  a(v.model, v.voice);
}

template <class Archive>
void wire(Archive& a, ClauseQuestion& v) {
  a(v.digest, v.words, v.settings);
}

// Refused: a voice that is a file, of whoever asks.
[[nodiscard]] Status check_voice(const std::string& voice);

// Refused: more than a clause of that model is, or settings that nobody has.
[[nodiscard]] Status check_question(const ClauseQuestion& question, size_t most_phonemes);

}  // namespace mynah::place
