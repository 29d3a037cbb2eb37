#include "place/workers/probe_stages.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "place/terms/stage.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

constexpr double kDetectorRate_hz = 16000;

[[noreturn]] void throw_or_refuse(const Error& error) {
  throw DeviceError(error);
}

// In letters of the International Phonetic Alphabet that every family's alphabet has.
std::vector<PhonemeWord> probe_words() {
  return {{.text = "hello", .phonemes = "hɛlo", .space_after = true, .begin = 0, .end = 5},
          {.text = "world", .phonemes = "wɜld", .space_after = false, .begin = 6, .end = 11}};
}

// Root mean squares of pieces of 10 ms.
std::vector<float> loudness(std::span<const float> samples, int rate_hz) {
  const size_t piece = static_cast<size_t>(std::max(1, rate_hz / 100));
  std::vector<float> values;
  for (size_t begin = 0; begin < samples.size(); begin += piece) {
    const auto part = samples.subspan(begin, std::min(piece, samples.size() - begin));
    double sum = 0;
    for (const float sample : part) {
      sum += static_cast<double>(sample) * sample;
    }
    values.push_back(static_cast<float>(std::sqrt(sum / static_cast<double>(part.size()))));
  }
  return values;
}

}  // namespace

Result<Probe> probe_detector(const VoiceDetector& detector) {
  const std::vector<float> sound = probe_sound(static_cast<size_t>(kDetectorRate_hz));
  const std::span<const float> recording = sound;
  auto found = detector.probabilities(std::span(&recording, 1));
  if (!found) {
    throw_or_refuse(found.error());
  }
  return Probe{.stages = {{.stage = std::string(stage_name(Stage::Vad)), .values = found->front()}},
               .sound_s = static_cast<double>(sound.size()) / detector.rate_hz()};
}

Result<Probe> probe_voice(const VoiceModel& voice) {
  const std::vector<PhonemeWord> words = probe_words();
  VoiceSettings settings;
  settings.noise_scale = 0.0F;
  settings.noise_w = 0.0F;
  auto spoken = voice.speak(words, settings);
  if (!spoken) {
    if (is_of_device(spoken.error().code)) {
      throw_or_refuse(spoken.error());
    }
    return std::unexpected(std::move(spoken).error());
  }
  Probe probe;
  probe.sound_s = static_cast<double>(spoken->samples.size()) / voice.rate_hz();
  ProbeStage acoustic{.stage = std::string(stage_name(Stage::TtsAcoustic)), .values = {}};
  for (const std::vector<PhonemeSound>& word : spoken->words) {
    for (const PhonemeSound& phoneme : word) {
      acoustic.values.push_back(static_cast<float>(phoneme.span.end) /
                                static_cast<float>(voice.rate_hz()));
    }
  }
  acoustic.values.push_back(static_cast<float>(probe.sound_s));
  probe.stages.push_back(std::move(acoustic));
  probe.stages.push_back({.stage = std::string(stage_name(Stage::TtsVocoder)),
                          .values = loudness(spoken->samples, voice.rate_hz())});
  return probe;
}

double phonemes_in(std::span<const PhonemeWord> words) {
  double phonemes = 1;
  for (const PhonemeWord& word : words) {
    phonemes += static_cast<double>(word.phonemes.size());
  }
  return phonemes;
}

double probe_work(Stage stage, double sound_s, double window_s) {
  constexpr double kLeast = 1e-6;
  const double share = window_s > 0 ? std::clamp(sound_s / window_s, kLeast, 1.0) : 1.0;
  switch (stage) {
    case Stage::SttEncoder:
      return share * share;  // each of its positions attends to all
    case Stage::SttDecoder:
      return share;
    case Stage::TtsAcoustic:
      return phonemes_in(probe_words());
    case Stage::Vad:
    case Stage::TtsVocoder:
      break;
  }
  return std::max(sound_s, kLeast);
}

}  // namespace mynah::place
