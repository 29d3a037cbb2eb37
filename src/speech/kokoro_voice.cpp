#include "speech/kokoro_voice.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "models/kokoro/voice_mix.h"
#include "store/speech_models.h"
#include "tensor/device_error.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What stands before the first phoneme and behind the last has a row of frames too.
constexpr size_t kFirstPhoneme = 1;

// What is taken where none is named: the voice with the best grade in hexgrad/Kokoro-82M's
// VOICES.md.
constexpr std::string_view kBestVoice = "af_heart";
constexpr std::string_view kBestLanguage = "en-US";

// Phonemes are heard so much before their frames (hexgrad/kokoro pipeline.py, join_timestamps()).
constexpr int32_t kFramesEarly = 3;

// The ids of a clause, and which phoneme of which word each is.
struct ClauseIds {
  struct Place {
    size_t word = 0;
    std::string symbol;  // empty: a space between two words
  };

  std::vector<int32_t> ids;
  std::vector<Place> places;
};

void add(ClauseIds& clause, std::optional<int32_t> id, char32_t character, size_t word,
         bool space) {
  if (!id) {
    return;
  }
  std::string symbol;
  if (!space) {
    append_utf8(symbol, character);
  }
  clause.ids.push_back(*id);
  clause.places.push_back({.word = word, .symbol = std::move(symbol)});
}

// A path is one voice, whatever signs are in it.
Result<std::vector<kokoro::VoiceShare>> shares_of(const std::string& voice) {
  std::error_code error;
  if (voice.empty() || std::filesystem::is_regular_file(voice, error)) {
    return std::vector{kokoro::VoiceShare{.name = voice}};
  }
  return kokoro::parse_voice_mix(voice);
}

ClauseIds ids_of(std::span<const PhonemeWord> words, const kokoro::Phonemes& phonemes) {
  ClauseIds clause;
  for (size_t i = 0; i < words.size(); ++i) {
    for (const char32_t character : to_code_points(words[i].phonemes)) {
      add(clause, phonemes.id(character), character, i, false);
    }
    if (words[i].space_after && i + 1 < words.size()) {
      add(clause, phonemes.id(U' '), U' ', i, true);
    }
  }
  return clause;
}

}  // namespace

KokoroVoice::KokoroVoice(std::string name, kokoro::Kokoro model, kokoro::Phonemes phonemes,
                         std::vector<VoiceFile> voices)
    : name_(std::move(name)),
      model_(std::move(model)),
      phonemes_(std::move(phonemes)),
      files_(std::move(voices)) {
  facts_.reserve(files_.size());
  for (const VoiceFile& file : files_) {
    facts_.push_back(file.facts);
  }
}

size_t KokoroVoice::count_phonemes(std::string_view phonemes) const {
  return phonemes_.ids(phonemes).size();
}

const VoiceFile& KokoroVoice::preferred() const {
  const auto find = [this](const auto& wanted, const auto& of) {
    return std::ranges::find(files_, wanted, of);
  };
  auto found = find(kBestVoice, [](const VoiceFile& file) { return file.facts.name; });
  if (found == files_.end()) {
    found = find(kBestLanguage, [](const VoiceFile& file) { return file.facts.language; });
  }
  return found == files_.end() ? files_.front() : *found;
}

Result<VoiceFile> KokoroVoice::find_file(const std::string& name) const {
  if (name.find('/') != std::string::npos || std::filesystem::path(name).has_extension()) {
    const InstalledVoice voice = describe_voice(std::filesystem::path(name).stem(), name);
    return VoiceFile{
        .facts = {.name = voice.name,
                  .language = voice.language.empty() ? std::string(kBestLanguage) : voice.language,
                  .sex = voice.sex},
        .path = name};
  }
  if (files_.empty()) {
    return fail(ErrorCode::Environment,
                fmt::format("{} has no voices on this machine: `mynah import` takes Kokoro's voice "
                            "packs (.pt, .npz, voices-v1.0.bin)",
                            name_));
  }
  if (name.empty()) {
    return preferred();
  }
  const auto found =
      std::ranges::find(files_, name, [](const VoiceFile& f) { return f.facts.name; });
  if (found != files_.end()) {
    return *found;
  }
  std::vector<std::string> names;
  names.reserve(files_.size());
  for (const VoiceFile& file : files_) {
    names.push_back(file.facts.name);
  }
  return fail(ErrorCode::NotFound, fmt::format("{} has no voice '{}'{}; `mynah voices` lists them",
                                               name_, name, suggestion(name, names)));
}

Result<VoiceFacts> KokoroVoice::find_voice(const std::string& voice) const {
  if (voice.empty()) {
    MYNAH_TRY(const VoiceFile file, find_file(voice));
    return file.facts;
  }
  MYNAH_TRY(const auto shares, shares_of(voice));
  std::optional<VoiceFacts> first;
  for (const kokoro::VoiceShare& share : shares) {
    MYNAH_TRY(const VoiceFile file, find_file(share.name));
    if (!first) {
      first = file.facts;
    }
  }
  return *first;
}

Result<std::shared_ptr<const kokoro::VoicePack>> KokoroVoice::pack_of(
    const std::string& voice) const {
  const std::scoped_lock lock(mutex_);
  if (const auto known = packs_.find(voice); known != packs_.end()) {
    return known->second;
  }
  MYNAH_TRY(const auto shares, shares_of(voice));
  std::vector<kokoro::VoicePack> packs;
  std::vector<float> weights;
  for (const kokoro::VoiceShare& share : shares) {
    MYNAH_TRY(const VoiceFile file, find_file(share.name));
    MYNAH_TRY(kokoro::VoicePack pack, kokoro::read_voice_pack(file.path));
    packs.push_back(std::move(pack));
    weights.push_back(share.weight);
  }
  kokoro::VoicePack pack =
      packs.size() == 1 ? std::move(packs.front()) : kokoro::mix_voices(packs, weights);
  auto shared = std::make_shared<const kokoro::VoicePack>(std::move(pack));
  packs_.emplace(voice, shared);
  return shared;
}

Result<ClauseSound> KokoroVoice::speak(std::span<const PhonemeWord> words,
                                       const VoiceSettings& settings) const {
  MYNAH_TRY(const auto pack, pack_of(settings.voice));
  const ClauseIds clause = ids_of(words, phonemes_);
  ClauseSound sound;
  sound.words.resize(words.size());
  if (clause.ids.empty()) {
    return sound;
  }
  if (clause.ids.size() > most_phonemes()) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted at most {} phonemes at once, found {}",
                                                     most_phonemes(), clause.ids.size()));
  }
  try {
    kokoro::Speech speech =
        model_.speak(clause.ids, pack->style(clause.ids.size()), settings.speed);
    sound.samples = std::move(speech.samples);
    constexpr auto kFrame = static_cast<size_t>(kokoro::kFrameSamples);
    size_t at = static_cast<size_t>(std::max(0, speech.frames.front() - kFramesEarly)) * kFrame;
    for (size_t i = 0; i < clause.places.size(); ++i) {
      const size_t end = at + static_cast<size_t>(speech.frames[kFirstPhoneme + i]) * kFrame;
      if (const auto& [word, symbol] = clause.places[i]; !symbol.empty()) {
        sound.words[word].push_back({.symbol = symbol, .span = {.begin = at, .end = end}});
      }
      at = end;
    }
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
  return sound;
}

}  // namespace mynah
