#include "speech/voice_loudness.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "audio/loudness.h"
#include "models/kokoro/voice_mix.h"
#include "speech/speak_clause.h"

namespace mynah {
namespace {

// Harvard sentences (IEEE, 1969, list 1), which have English's phonemes as often as speech has
// them. Of other languages' voices each reads them as it reads English words: it is their loudness
// that counts.
constexpr std::array<std::string_view, 2> kSentences = {
    "The birch canoe slid on the smooth planks, and the box was thrown beside the parked truck.",
    "These days a chicken leg is a rare dish, but rice is often served in round bowls."};
constexpr std::string_view kLanguage = "en-US";
constexpr double kBetween_s = 0.3;

// The voices of a mix; none where it is one voice.
std::vector<kokoro::VoiceShare> shares_of(const VoiceModel& model, const std::string& voice) {
  if (voice.find_first_of("+,-") == std::string::npos || voice.contains('/')) {
    return {};
  }
  auto shares = kokoro::parse_voice_mix(voice);
  if (!shares || shares->size() < 2) {
    return {};
  }
  for (const kokoro::VoiceShare& share : *shares) {
    if (!model.find_voice(share.name)) {
      return {};
    }
  }
  return std::move(*shares);
}

}  // namespace

VoiceLoudness::VoiceLoudness(const VoiceModel& model, PhonemizerSource phonemizers,
                             std::shared_ptr<VoiceLevels> kept)
    : model_(model), phonemizers_(std::move(phonemizers)), kept_(std::move(kept)) {}

Result<std::optional<double>> VoiceLoudness::of(const std::string& voice) {
  if (const auto known = known_.find(voice); known != known_.end()) {
    return known->second;
  }
  std::optional<double> lufs;
  if (const auto shares = shares_of(model_, voice); !shares.empty()) {
    double sum = 0;
    for (const kokoro::VoiceShare& share : shares) {
      MYNAH_TRY(const std::optional<double> own, of(share.name));
      sum += share.weight * own.value_or(0);
    }
    lufs = sum;
  } else {
    // By the name that it has, whatever it was called by.
    MYNAH_TRY(const VoiceFacts facts, model_.find_voice(voice));
    const std::string& name = voice.contains('/') ? voice : facts.name;
    lufs = kept_ ? kept_->find(name) : std::nullopt;
    if (!lufs) {
      MYNAH_TRY(lufs, measure(voice));
      if (lufs && kept_) {
        kept_->keep(name, *lufs);
      }
    }
  }
  known_[voice] = lufs;
  return lufs;
}

Result<std::vector<std::vector<PhonemeWord>>> VoiceLoudness::read(const std::string& voice) const {
  auto reader = phonemizers_(std::string(kLanguage));
  if (!reader) {
    MYNAH_TRY(const VoiceFacts facts, model_.find_voice(voice));
    MYNAH_TRY(reader, phonemizers_(facts.language));
  }
  std::vector<std::vector<PhonemeWord>> sentences;
  for (const std::string_view sentence : kSentences) {
    MYNAH_TRY(std::vector<PhonemeWord> words, (*reader)->phonemes(sentence));
    size_t cost = 0;
    size_t fitting = 0;
    while (fitting < words.size()) {
      cost += model_.alphabet().count(words[fitting].phonemes) + 1;
      if (cost > model_.most_phonemes()) {
        break;
      }
      ++fitting;
    }
    words.resize(fitting);
    sentences.push_back(std::move(words));
  }
  return sentences;
}

Result<std::optional<double>> VoiceLoudness::measure(const std::string& voice) const {
  // A voice whose language nothing here reads says phonemes alone: as loud as it is.
  const auto sentences = read(voice);
  if (!sentences) {
    return std::nullopt;
  }
  const int rate_hz = model_.rate_hz();
  std::vector<float> samples;
  for (const std::vector<PhonemeWord>& words : *sentences) {
    MYNAH_TRY(const ClauseSound sound, speak_clause(model_, words, {.voice = voice}));
    samples.insert(samples.end(), sound.samples.begin(), sound.samples.end());
    samples.resize(samples.size() + static_cast<size_t>(std::lround(kBetween_s * rate_hz)));
  }
  return loudness_lufs(samples, rate_hz);
}

}  // namespace mynah
