#include "place/kinds/voice/voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/kinds/families.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/wire/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"
#include "speech/voice_loading.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

constexpr uint64_t kMostPhonemes = uint64_t{1} << 24;

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

// Two frames of 25 ms for the ends of phonemes.
double least_acoustic_error(double sound_s) {
  constexpr double kFrames_s = 0.05;
  return sound_s > 0 ? kFrames_s / sound_s : 0.0;
}

// Steps grow with phonemes (tts.acoustic) and with sound (tts.vocoder).
constexpr std::array kVoiceStages = {
    StageFacts{.name = "tts.acoustic",
               .probe_work = [](double /*sound_s*/,
                                double /*window_s*/) { return phonemes_in(probe_words()); },
               .least_error = least_acoustic_error},
    StageFacts{
        .name = "tts.vocoder",
        .probe_work = [](double sound_s, double /*window_s*/) { return std::max(sound_s, 1e-6); },
        .least_error = [](double /*sound_s*/) { return 0.02; }}};

Status open_voice_in(WorkerLane& worker, const ModelFile& file, const StagePlaces& places) {
  return worker.tell(Ask::OpenVoice, load_limit(path_of(file)), std::get<VoiceModelFile>(file),
                     places.at(kTtsAcoustic), places.at(kTtsVocoder));
}

constexpr Kind kVoiceRow{.name = "tts",
                         .stages = kVoiceStages,
                         .elsewhere = true,
                         .host = host_voice,
                         .open_in = open_voice_in};

}  // namespace

const Kind& voice_kind() {
  return kVoiceRow;
}

Result<std::unique_ptr<const VoiceModel>> load_voice(const VoiceModelFile& file,
                                                     const StageBackend& acoustic,
                                                     const StageBackend& vocoder) {
  const VoiceLoadOptions options{
      .name = file.name,
      .storage = acoustic.storage,
      .precision = file.precision,
      .cache_folder = file.cache_folder,
      .vocoder = StagePlace{
          .backend = &vocoder.backend, .storage = vocoder.storage, .precision = file.precision}};
  const FamilyLoader* const loader = find_loader(file.family);
  if (loader != nullptr && loader->voice != nullptr) {
    return loader->voice(file, options, acoustic.backend);
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("no voices of the family '{}' are known", file.family));
}

Result<Probe> probe_voice(const VoiceModel& voice) {
  const std::vector<PhonemeWord> words = probe_words();
  VoiceSettings settings;
  settings.noise_scale = 0.0F;
  settings.noise_w = 0.0F;
  auto spoken = voice.speak(words, settings);
  if (!spoken) {
    if (is_of_device(spoken.error().code)) {
      throw DeviceError(spoken.error());
    }
    return std::unexpected(std::move(spoken).error());
  }
  Probe probe;
  probe.sound_s = static_cast<double>(spoken->samples.size()) / voice.rate_hz();
  ProbeStage acoustic{.stage = std::string(stage_name(kTtsAcoustic)), .values = {}};
  for (const std::vector<PhonemeSound>& word : spoken->words) {
    for (const PhonemeSound& phoneme : word) {
      acoustic.values.push_back(static_cast<float>(phoneme.span.end) /
                                static_cast<float>(voice.rate_hz()));
    }
  }
  acoustic.values.push_back(static_cast<float>(probe.sound_s));
  probe.stages.push_back(std::move(acoustic));
  probe.stages.push_back({.stage = std::string(stage_name(kTtsVocoder)),
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

VoiceModelFacts facts_of(const VoiceModel& voice) {
  return {.name = voice.name(),
          .rate_hz = voice.rate_hz(),
          .voices = voice.voices(),
          .most_phonemes = voice.most_phonemes(),
          .phonemes = to_utf8(voice.alphabet().characters()),
          .reading = voice.reading()};
}

bool is_possible(const VoiceModelFacts& facts) {
  return is_rate(facts.rate_hz) && facts.most_phonemes > 0 && facts.most_phonemes <= kMostPhonemes;
}

bool is_possible(const ClauseSound& sound, size_t words) {
  return sound.samples.empty() || sound.words.size() == words;
}

}  // namespace mynah::place
