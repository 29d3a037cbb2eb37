#include <algorithm>
#include <map>
#include <utility>

#include "place/load_limit.h"
#include "place/possible.h"
#include "place/remote.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

// Sound that a phoneme makes, for the time that a clause may take: slow speech.
constexpr double kSecondsOfPhoneme = 0.15;

class RemoteVoice final : public VoiceModel {
 public:
  RemoteVoice(std::shared_ptr<WorkerProcess> worker, VoiceModelFacts facts, StepLimit limit)
      : worker_(std::move(worker)), facts_(std::move(facts)), limit_(std::move(limit)) {}

  [[nodiscard]] std::string name() const override { return facts_.name; }

  [[nodiscard]] int rate_hz() const override { return facts_.rate_hz; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return facts_.voices; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    return worker_->ask_for<VoiceFacts>(Ask::FindVoice, limit_(0), {}, voice);
  }

  [[nodiscard]] size_t most_phonemes() const override {
    return static_cast<size_t>(facts_.most_phonemes);
  }

  // The worker is asked once for each character: a word of known ones costs no crossing.
  [[nodiscard]] size_t count_phonemes(std::string_view phonemes) const override {
    const std::u32string characters = to_code_points(phonemes);
    std::vector<char32_t> unknown;
    for (const char32_t character : characters) {
      if (!counts_.contains(character) && std::ranges::find(unknown, character) == unknown.end()) {
        unknown.push_back(character);
      }
    }
    if (!unknown.empty()) {
      ask_for_counts(unknown);
    }
    size_t count = 0;
    for (const char32_t character : characters) {
      count += counts_.at(character);
    }
    return count;
  }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    double phonemes = 1;
    for (const PhonemeWord& word : words) {
      phonemes += static_cast<double>(word.phonemes.size());
    }
    const std::vector<PhonemeWord> list(words.begin(), words.end());
    const double slowness = settings.speed > 0 ? 1 / settings.speed : 1;
    MYNAH_TRY(ClauseSound sound,
              worker_->ask_for<ClauseSound>(
                  Ask::Speak, limit_(phonemes * kSecondsOfPhoneme * slowness), {}, list, settings));
    if (!is_possible(sound, words.size())) {
      worker_->refuse_answer();
    }
    return sound;
  }

 private:
  void ask_for_counts(std::span<const char32_t> characters) const {
    std::vector<std::string> texts(characters.size());
    for (size_t i = 0; i < characters.size(); ++i) {
      append_utf8(texts[i], characters[i]);
    }
    const auto counts =
        worker_->ask_for<std::vector<uint64_t>>(Ask::CountPhonemes, limit_(0), {}, texts);
    if (!counts) {
      throw DeviceError(counts.error());
    }
    if (counts->size() != texts.size() || !std::ranges::all_of(*counts, is_possible_count)) {
      worker_->refuse_answer();
    }
    for (size_t i = 0; i < characters.size(); ++i) {
      counts_[characters[i]] = static_cast<size_t>((*counts)[i]);
    }
  }

  std::shared_ptr<WorkerProcess> worker_;
  VoiceModelFacts facts_;
  StepLimit limit_;
  mutable std::map<char32_t, size_t> counts_;  // of characters that were asked for
};

}  // namespace

Result<std::shared_ptr<const VoiceModel>> open_remote_voice(
    std::shared_ptr<WorkerProcess> worker, const VoiceModelFile& file, const StageDevice& acoustic,
    const StageDevice& vocoder, StepLimit limit, PiperLanguage& language) {
  MYNAH_TRY(VoiceModelFacts facts,
            worker->ask_for<VoiceModelFacts>(Ask::OpenVoice, load_limit(file.path), {}, file,
                                             acoustic, vocoder));
  if (!is_possible(facts)) {
    worker->refuse_answer();
  }
  language = facts.language;
  return std::make_shared<const RemoteVoice>(std::move(worker), std::move(facts), std::move(limit));
}

}  // namespace mynah::place
