#include "speech/kokoro/kokoro_voice.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "models/kokoro/voice_mix.h"
#include "speech/phoneme_clause.h"
#include "store/speech_models.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// What is taken where none is named: the voice with the best grade in hexgrad/Kokoro-82M's
// VOICES.md.
constexpr std::string_view kBestVoice = "af_heart";
constexpr std::string_view kBestLanguage = "en-US";

// Phonemes are heard so much before their frames (hexgrad/kokoro pipeline.py, join_timestamps()).
constexpr int32_t kFramesEarly = 3;

// A path is one voice, whatever signs are in it.
Result<std::vector<kokoro::VoiceShare>> shares_of(const std::string& voice) {
  std::error_code error;
  if (voice.empty() || std::filesystem::is_regular_file(voice, error)) {
    return std::vector{kokoro::VoiceShare{.name = voice}};
  }
  return kokoro::parse_voice_mix(voice);
}

}  // namespace

KokoroVoice::KokoroVoice(std::string name, kokoro::Kokoro model, kokoro::Phonemes phonemes,
                         std::vector<VoiceFile> voices)
    : name_(std::move(name)),
      model_(std::move(model)),
      phonemes_(std::move(phonemes)),
      alphabet_(phonemes_.characters()),
      files_(std::move(voices)) {
  facts_.reserve(files_.size());
  for (const VoiceFile& file : files_) {
    facts_.push_back(file.facts);
  }
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
  // By its number among voices(), as piper counts speakers.
  size_t number = 0;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), number);
  if (end.ec == std::errc() && end.ptr == name.data() + name.size() && number < files_.size()) {
    return files_[number];
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
    auto file = find_file(share.name);
    if (!file) {
      if (shares.size() > 1) {
        file.error().message += "; voices are mixed of " + name_ + "'s own";
      }
      return std::unexpected(std::move(file.error()));
    }
    if (!first) {
      first = file->facts;
    }
  }
  if (shares.size() > 1) {
    first->name = voice;
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
  const PhonemeClause clause(words, [this](char32_t character) { return phonemes_.id(character); });
  if (clause.ids().empty()) {
    return clause.silence();
  }
  if (clause.ids().size() > most_phonemes()) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted at most {} phonemes at once, found {}",
                                                     most_phonemes(), clause.ids().size()));
  }
  return or_device_error([&]() -> Result<ClauseSound> {
    kokoro::Speech speech =
        model_.speak(clause.ids(), pack->style(clause.ids().size()), settings.speed);
    return clause.sound(std::move(speech.samples), speech.frames,
                        static_cast<size_t>(kokoro::kFrameSamples), kFramesEarly);
  });
}

}  // namespace mynah
