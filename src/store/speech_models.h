// What there is on this machine to speak with: a model, its voices, and what text is put into
// phonemes with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace mynah {

// A voice that is here.
struct InstalledVoice {
  std::string name;      // "af_heart"
  std::string path;      // Kokoro's, for kokoro::read_voice_pack(); others are in their model
  std::string language;  // BCP 47: "en-US"; empty where the name tells none
  std::string sex;       // "female", "male", or empty
};

struct SpeechModel {
  std::string name;                         // of the store; empty where a path was given
  std::string path;                         // the model's file; of a set its network
  std::string family;                       // of a row of families.cpp; of a path as its files tell
  std::vector<InstalledVoice> voices = {};  // by name; of a model of several speakers in order
  // The folder of english-phonemes: lexicon_{us,gb}_{gold,silver}.json.gz, tagger.json.gz,
  // tokenizer_exceptions.json, oov.onnx, oov.json, oov_gb.onnx, oov_gb.json. Empty where it is not
  // here.
  std::string english_phonemes = {};
  // The file of cmudict, how names are said. Empty where it is not here.
  std::string dictionary = {};
};

// Language and sex out of a name's first two letters, as hexgrad/Kokoro-82M's VOICES.md has them:
// a American, b British, e Spanish, f French, h Hindi, i Italian, j Japanese, p Brazilian
// Portuguese, z Mandarin; f, m. Empty where "_" does not come third or a letter is none of these.
[[nodiscard]] InstalledVoice describe_voice(std::string name, std::string path);

// The table of the CMU Pronouncing Dictionary; empty where it is not here.
[[nodiscard]] std::string installed_dictionary(const Store& store);

// Every model that speaks, best first: Kokoro where it has a voice for English, hibari, Piper's
// voices, then what else there is; each with its voices.
[[nodiscard]] std::vector<SpeechModel> installed_speech_models(const Store& store);

// The file that a model's weights are in: of a set its network.
[[nodiscard]] std::string network_of(const StoredModel& model);

// The voices of the set kokoro-voices: every file in its folder that voices can be in, those that a
// user put there by hand too.
[[nodiscard]] std::vector<InstalledVoice> installed_voices(const Store& store);

// The voice of that name. Usage with the nearest name, Environment with what to pull where there
// are none at all.
Result<InstalledVoice> find_voice(std::span<const InstalledVoice> voices, std::string_view name);

// The model that a user named or, where `name_or_path` is empty, the best of those that are here.
// Environment, with what to pull, where none is here; Usage for a model of the store that does not
// speak; Store::resolve()'s errors for names that nobody knows.
Result<SpeechModel> installed_speech_model(const Store& store,
                                           const std::string& name_or_path = {});

}  // namespace mynah
