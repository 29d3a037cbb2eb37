// VoiceModel: what each family of models does for a Synthesizer: the words of one clause to sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "speech/phoneme_alphabet.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {

struct VoiceFacts {
  std::string name;      // "af_heart"
  std::string language;  // BCP 47: "en-US", "ja"
  std::string sex;       // "female", "male"; "" where nobody said

  bool operator==(const VoiceFacts&) const = default;
};

// What puts text into what a model speaks.
enum class ReadBy : uint8_t {
  Letters,          // nothing: words go in as they are written
  Espeak,           // espeak-ng, in its own alphabet
  EnglishLexicons,  // the lexicons of english-phonemes, in Kokoro's alphabet: English alone
  EveryLanguage     // the same lexicons; other languages by espeak-ng and open_jtalk
};

struct VoiceReading {
  ReadBy by = ReadBy::Letters;
  std::string language;  // that a model of one language was taught: "en-us"; "": any that is read
  std::string espeak_voice;  // whose phonemes; "" where espeak-ng does not read
};

// How a clause is spoken.
struct VoiceSettings {
  std::string voice;  // "" is the model's own choice; where the family can mix, a mix
  float speed = 1.0F;
  // Of families that draw noise; none: the voice's own.
  std::optional<float> noise_scale{};  // of the sound
  std::optional<float> noise_w{};      // of the durations
  uint64_t seed = 0;
};

// Where something sounds, in samples of its clause.
struct SoundSpan {
  size_t begin = 0;
  size_t end = 0;
};

struct PhonemeSound {
  std::string symbol;  // one character
  SoundSpan span;
};

struct ClauseSound {
  std::vector<float> samples;
  // Of each word that was given: its phonemes, in order; none of those the model does not know.
  std::vector<std::vector<PhonemeSound>> words;
};

// Const after load; calls come one at a time.
class VoiceModel {
 public:
  virtual ~VoiceModel() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual int rate_hz() const = 0;
  [[nodiscard]] virtual const std::vector<VoiceFacts>& voices() const = 0;

  // The facts of settings.voice; a mix has the language of its first voice. NotFound with the
  // nearest name where there is no such voice; InvalidInput for a mix that cannot be read.
  [[nodiscard]] virtual Result<VoiceFacts> find_voice(const std::string& voice) const = 0;

  // What a clause may cost at most, and what its words cost.
  [[nodiscard]] virtual size_t most_phonemes() const = 0;
  [[nodiscard]] virtual const PhonemeAlphabet& alphabet() const = 0;

  // What text is to be read by.
  [[nodiscard]] virtual const VoiceReading& reading() const = 0;

  // No words that the model knows: no samples.
  [[nodiscard]] virtual Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                                  const VoiceSettings& settings) const = 0;
};

}  // namespace mynah
