// Piper as a VoiceModel.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/mapped_file.h"
#include "base/nearest_name.h"
#include "formats/onnx.h"
#include "models/piper/model.h"
#include "models/piper/onnx_voice.h"
#include "models/piper/voice_config.h"
#include "speech/piper/load_piper.h"
#include "tensor/device_error.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Characters of a clause; the network itself has no limit, but its attention grows by the square.
constexpr size_t kMostCharacters = 500;

// Where each word's characters are among all.
struct ClauseCharacters {
  std::u32string characters;
  std::vector<size_t> words;  // of each character; those between words count to the one before
};

ClauseCharacters characters_of(std::span<const PhonemeWord> words) {
  ClauseCharacters clause;
  for (size_t i = 0; i < words.size(); ++i) {
    std::u32string characters = to_code_points(words[i].phonemes);
    if (words[i].space_after && i + 1 < words.size()) {
      characters += U' ';
    }
    clause.characters += characters;
    clause.words.insert(clause.words.end(), characters.size(), i);
  }
  return clause;
}

std::u32string characters_of(const piper::VoiceConfig& config) {
  std::u32string characters;
  for (const auto& [character, ids] : config.ids) {
    characters += character;
  }
  return characters;
}

VoiceReading reading_of(const piper::VoiceConfig& config) {
  const bool espeak = config.kind == piper::PhonemeKind::Espeak && !config.espeak_voice.empty();
  return {.by = espeak ? ReadBy::Espeak : ReadBy::Letters,
          .language = config.language,
          .espeak_voice = espeak ? config.espeak_voice : ""};
}

class PiperVoice final : public VoiceModel {
 public:
  PiperVoice(std::string name, piper::Piper model, piper::VoiceConfig config)
      : name_(std::move(name)),
        model_(std::move(model)),
        config_(std::move(config)),
        alphabet_(characters_of(config_)),
        reading_(reading_of(config_)) {
    const auto add = [this](std::string voice) {
      voices_.push_back({.name = std::move(voice), .language = config_.language, .sex = ""});
    };
    if (model_.speakers() == 1) {
      add(config_.dataset.empty() ? name_ : config_.dataset);
    }
    for (int64_t i = 0; model_.speakers() > 1 && i < model_.speakers(); ++i) {
      const auto index = static_cast<size_t>(i);
      add(index < config_.speakers.size() ? config_.speakers[index] : std::to_string(i));
    }
  }

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] int rate_hz() const override { return config_.rate_hz; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voices_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    MYNAH_TRY(const size_t speaker, speaker_of(voice));
    return voices_[speaker];
  }

  [[nodiscard]] size_t most_phonemes() const override { return kMostCharacters; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override;

 private:
  // By name or by number; "" is the first, as is the model's own name.
  Result<size_t> speaker_of(const std::string& voice) const {
    const auto found = std::ranges::find(voices_, voice, &VoiceFacts::name);
    if (found != voices_.end()) {
      return static_cast<size_t>(found - voices_.begin());
    }
    if (voice.empty() || voice == name_) {
      return 0;
    }
    size_t number = 0;
    const auto end = std::from_chars(voice.data(), voice.data() + voice.size(), number);
    if (end.ec == std::errc() && end.ptr == voice.data() + voice.size() &&
        number < voices_.size()) {
      return number;
    }
    std::vector<std::string> names;
    std::ranges::transform(voices_, std::back_inserter(names), &VoiceFacts::name);
    return fail(
        ErrorCode::NotFound,
        fmt::format("{} has no voice '{}'{}; it has {}{}", name_, voice, suggestion(voice, names),
                    names.size() > 8 ? "numbers" : fmt::format("{}", fmt::join(names, ", ")),
                    names.size() > 1 ? fmt::format(" (0 to {})", names.size() - 1) : ""));
  }

  std::string name_;
  piper::Piper model_;
  piper::VoiceConfig config_;
  PhonemeAlphabet alphabet_;
  VoiceReading reading_;
  std::vector<VoiceFacts> voices_;
};

Result<ClauseSound> PiperVoice::speak(std::span<const PhonemeWord> words,
                                      const VoiceSettings& settings) const {
  MYNAH_TRY(const size_t speaker, speaker_of(settings.voice));
  const ClauseCharacters clause = characters_of(words);
  const piper::PhonemeIds ids = piper::phoneme_ids(config_, clause.characters);
  ClauseSound sound;
  sound.words.resize(words.size());
  const bool known = std::ranges::any_of(ids.runs, [](const auto& run) { return run.length > 0; });
  if (!known) {
    return sound;
  }
  return or_device_error([&]() -> Result<ClauseSound> {
    MYNAH_TRY(
        piper::Speech speech,
        model_.speak(ids.ids, {.speaker = static_cast<int64_t>(speaker),
                               .length_scale = config_.length_scale / settings.speed,
                               .noise_scale = settings.noise_scale.value_or(config_.noise_scale),
                               .noise_w = settings.noise_w.value_or(config_.noise_w),
                               .seed = settings.seed}));
    sound.samples = std::move(speech.samples);
    std::vector<size_t> begins{0};
    for (const int32_t frames : speech.frames) {
      begins.push_back(begins.back() + static_cast<size_t>(frames * model_.frame_samples()));
    }
    for (size_t i = 0; i < ids.runs.size(); ++i) {
      const auto& run = ids.runs[i];
      if (run.length > 0 && clause.characters[i] != U' ') {
        std::string symbol;
        append_utf8(symbol, clause.characters[i]);
        sound.words[clause.words[i]].push_back(
            {.symbol = std::move(symbol),
             .span = {.begin = begins[run.begin], .end = begins[run.begin + run.length]}});
      }
    }
    return std::move(sound);  // where it stands is outside: a copy otherwise
  });
}

}  // namespace

Result<std::unique_ptr<const VoiceModel>> load_piper(const PiperFiles& files,
                                                     const VoiceLoadOptions& options,
                                                     Backend& backend) {
  const std::string& path = files.network;
  const std::string config_path = files.config.empty() ? path + ".json" : files.config;
  std::ifstream json(config_path, std::ios::binary);
  if (!json) {
    return fail(ErrorCode::NotFound,
                files.config.empty()
                    ? fmt::format("{}: a Piper voice is two files; wanted {} beside it", path,
                                  std::filesystem::path(config_path).filename().string())
                    : fmt::format("cannot read {}", config_path));
  }
  const std::string text{std::istreambuf_iterator<char>(json), {}};
  MYNAH_TRY(piper::VoiceConfig config, piper::read_voice_config(text, config_path));
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const OnnxModel graph, read_onnx_model(file));
  MYNAH_TRY(const piper::OnnxVoice voice, piper::read_onnx_voice(graph));
  const StagePlace acoustic{
      .backend = &backend, .storage = options.storage, .precision = options.precision};
  const StagePlace vocoder = options.vocoder.value_or(acoustic).beside(backend);
  return or_device_error([&]() -> Result<std::unique_ptr<const VoiceModel>> {
    MYNAH_TRY(auto model, piper::Piper::load(voice, acoustic.weights(), vocoder.weights()));
    MYNAH_TRY_STATUS(piper::check_voice_config(config, model.symbols(), model.speakers()));
    release_idle_memory(acoustic, vocoder);
    return std::make_unique<const PiperVoice>(options.name, std::move(model), std::move(config));
  });
}

}  // namespace mynah
