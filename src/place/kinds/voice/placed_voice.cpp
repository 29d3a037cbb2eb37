// A voice where it is placed: a clause that fails is spoken again elsewhere, and nobody heard any
// of it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/kinds/voice/voice.h"
#include "place/state/rungs.h"
#include "place/workers/remote_probe.h"

namespace mynah::place {
namespace {

using VoiceRungs = Rungs<VoiceModel>;

Status check_sound(const ClauseSound& sound, const VoiceRungs::Rung& rung) {
  const bool finite =
      std::ranges::all_of(sound.samples, [](float sample) { return std::isfinite(sample); });
  return finite ? Status{}
                : fail(ErrorCode::Device,
                       devices_of(rung.where) + " computed samples that are no numbers (NaN)");
}

class PlacedVoice final : public VoiceModel {
 public:
  PlacedVoice(std::shared_ptr<VoiceRungs> rungs, std::shared_ptr<PlacementState> state,
              const VoiceModel& opened)
      : rungs_(std::move(rungs)),
        state_(std::move(state)),
        name_(opened.name()),
        rate_hz_(opened.rate_hz()),
        voices_(opened.voices()),
        most_phonemes_(opened.most_phonemes()),
        alphabet_(opened.alphabet()),
        reading_(opened.reading()) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] int rate_hz() const override { return rate_hz_; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voices_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    return rungs_->on_some_rung(
        [&](const VoiceRungs::Rung& rung) { return rung.model->find_voice(voice); });
  }

  [[nodiscard]] size_t most_phonemes() const override { return most_phonemes_; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    return rungs_->on_some_rung([&](const VoiceRungs::Rung& rung) -> Result<ClauseSound> {
      MYNAH_TRY(ClauseSound sound, rung.model->speak(words, settings));
      MYNAH_TRY_STATUS(check_sound(sound, rung));
      rungs_->vouch(rung, next_clause());
      ++clauses_;
      return sound;
    });
  }

 private:
  // "clause 3 of 0002.wav": they are counted anew with each text that has a name.
  std::string next_clause() const {
    std::string text =
        fmt::format("{}", fmt::join(state_->openings().work_names(rungs_->id()), ", "));
    if (text != text_) {
      text_ = std::move(text);
      clauses_ = 0;
    }
    return fmt::format("clause {}{}{}", clauses_ + 1, text_.empty() ? "" : " of ", text_);
  }

  std::shared_ptr<VoiceRungs> rungs_;
  std::shared_ptr<PlacementState> state_;
  // The same on every device, and known while the model is let go.
  std::string name_;
  int rate_hz_;
  std::vector<VoiceFacts> voices_;
  size_t most_phonemes_;
  PhonemeAlphabet alphabet_;
  VoiceReading reading_;
  mutable std::string text_;      // that is spoken, where it has a name
  mutable uint64_t clauses_ = 0;  // of it that were spoken
};

}  // namespace

Result<std::unique_ptr<const VoiceModel>> place_voice(std::shared_ptr<PlacementState> state,
                                                      const VoiceModelFile& file) {
  const ModelId id = state->context().expect(file);
  const auto open = [id, file](const StagePlaces& where,
                               PlacementState& here) -> Result<VoiceRungs::Opened> {
    const StageDevice& acoustic = where.at(kTtsAcoustic);
    const StageDevice& vocoder = where.at(kTtsVocoder);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, here.openings().worker_for(id, where));
      const StepPace pace = here.planner().step_pace(id);
      MYNAH_TRY(auto model, open_remote_voice(worker, file, acoustic, vocoder, pace));
      return VoiceRungs::Opened{.model = std::move(model),
                                .probe = remote_probe(std::move(worker), kTtsGroup, pace)};
    }
    MYNAH_TRY(auto of_acoustic, here.openings().open_here(id, kTtsAcoustic, acoustic));
    MYNAH_TRY(auto of_vocoder, here.openings().open_here(id, kTtsVocoder, vocoder));
    MYNAH_TRY(std::shared_ptr<const VoiceModel> model,
              load_voice(file, {.backend = *of_acoustic, .storage = acoustic.storage},
                         {.backend = *of_vocoder, .storage = vocoder.storage}));
    return VoiceRungs::Opened{
        .model = keeping(std::move(model), std::move(of_acoustic), std::move(of_vocoder)),
        .probe = {}};
  };
  auto rungs = std::make_shared<VoiceRungs>(id, state, open);
  MYNAH_TRY(const auto opened, rungs->begin());
  state->openings().add(hooks_of(rungs));
  return std::make_unique<const PlacedVoice>(std::move(rungs), std::move(state), *opened);
}

}  // namespace mynah::place
