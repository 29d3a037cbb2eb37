// Families of models: what mynah knows of each before one of its models is loaded, a row a family
// (families.cpp). What loads them is a row as well (place/kinds/families.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

struct InstalledVoice;
struct SpeechModel;

// What a family is for.
enum class FamilyKind : uint8_t {
  SpeechToText,
  VoiceActivity,
  EndOfTurn,
  Speech,
  Voices,
  Phonemes,
  Language,
  Embeddings,
  WakeWord
};

// As users call it: "speech to text", "voice activity", "end of turn", "speech", "voices",
// "phonemes", "language model", "embeddings", "wake word".
[[nodiscard]] std::string_view name(FamilyKind kind);

// A language that a model was taught, and its English name.
struct TaughtLanguage {
  std::string_view tag;  // "fr"
  std::string_view name;
};

// The place among the models that speak, best first.
struct VoiceRank {
  int of_english = 3;  // where a voice of it speaks English
  int of_others = 3;
};

struct ModelFamily {
  std::string_view name;   // "kokoro", as source.json and messages have it
  std::string_view title;  // "Kokoro"
  FamilyKind kind;

  // The file that a set of this family is known by ("hibari.onnx"): what the catalogue's entry of
  // the family's name has beside it belongs to the set. "": none.
  std::string_view main_file = {};
  // What the name of an .onnx file gets behind it to name the file that says how it is used and
  // read (".json"); the two are a set. "": none.
  std::string_view config_suffix = {};

  // The extension of a network whose file of the same name, but with ".json", says how it is used;
  // the two are a set. "": none.
  std::string_view network_extension = {};

  // Whether a file of any name is one of its models, by what is in it; null: none are told so.
  bool (*recognises)(const std::string& path) = nullptr;

  bool brings_voices = false;  // once one is here, there are voices, or they can be measured

  // Of families that speak.
  VoiceRank rank = {};
  std::span<const TaughtLanguage> taught = {};         // empty: what its voices speak
  std::span<const std::string_view> best_voices = {};  // each of its language
  std::vector<InstalledVoice> (*voices)(const SpeechModel& model) = nullptr;  // null: kokoro-voices
};

// All of them, in the order in which models are listed.
[[nodiscard]] std::span<const ModelFamily> families();

// Null where nobody knows it.
[[nodiscard]] const ModelFamily* find_family(std::string_view name);

// Whether a family is known and for that.
[[nodiscard]] bool is_for(std::string_view family, FamilyKind kind);

// Whether its models say in a file of their own how text is read to them, and need no
// english-phonemes; false where nobody knows the family.
[[nodiscard]] bool has_config(std::string_view family);

// The family whose models have such a file.
[[nodiscard]] const ModelFamily& family_with_config();

// The languages that it was taught, for messages: "English, Spanish and French".
[[nodiscard]] std::string taught_languages(const ModelFamily& family);

}  // namespace mynah
