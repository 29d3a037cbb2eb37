// Placer: models that compute where the user asked, or where it is best, and go on elsewhere when
// that fails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chat/embedding_model.h"
#include "chat/language_model.h"
#include "place/state/placement_state.h"
#include "place/terms/workload.h"
#include "speech/placement_report.h"
#include "speech/voice_detector.h"
#include "speech/voice_model.h"
#include "speech/window_model.h"

namespace mynah::place {

// What the placer's detectors, its models that hear, its voices, its models that write and those
// that make vectors are called where nothing of them is open yet: what is asked of the request.
[[nodiscard]] StageGroup detecting_group();
[[nodiscard]] StageGroup hearing_group();
[[nodiscard]] StageGroup speaking_group();
[[nodiscard]] StageGroup writing_group();
[[nodiscard]] StageGroup embedding_group();

class Placer {
 public:
  explicit Placer(PlacerOptions options);
  ~Placer();
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  // Refuses a device that is named alone and is not there: before anything is looked for or loaded.
  [[nodiscard]] Status check_request() const;

  // What computes on the processor alone (a built-in model) is refused where other devices alone
  // are allowed for it, or a profile is named, which is none of its; `what` is named: "the built-in
  // recogniser".
  [[nodiscard]] Status check_processor(StageGroup group, const std::string& what) const;

  // A profile that is named and does not place this group at all is refused: where its model is
  // what the user asked for, and not what goes along with another (transcribe's detector).
  [[nodiscard]] Status check_profile(StageGroup group) const;

  // Each is refused with the reason where no device that is allowed can be used. They share the
  // placer's state and may outlive it; once it is gone nothing is proven or let go any more.
  Result<std::shared_ptr<const VoiceDetector>> detector(const DetectorFile& file);
  Result<std::shared_ptr<const WindowModel>> windows(const WindowsFile& file);
  Result<std::unique_ptr<const VoiceModel>> voice(const VoiceModelFile& file);
  // `opened`: open_writing() of it, so that whoever wants its words reads it once.
  Result<std::shared_ptr<const LanguageModel>> language(
      const LanguageFile& file, const std::shared_ptr<const WritingFile>& opened);
  // The same file, with LanguageFile::lower_layers as it is best placed, or with so many of its
  // last layers on a card. Usage where it cannot be cut there.
  Result<LanguageFile> cut(const LanguageFile& file, const WritingFile& opened,
                           std::optional<int64_t> card_layers);
  // `opened`: open_embedding_file() of it, for the same reason; null: it is read here.
  Result<std::shared_ptr<const EmbeddingModel>> embeddings(
      const EmbeddingFile& file, const std::shared_ptr<const TensorFile>& opened = nullptr);

  // What a model is called that was placed, or asked for, before.
  [[nodiscard]] ModelId id_of(const ModelFile& file) const;

  // Of what the work is that a model does from now on, in the order in which it is done: files,
  // lines. It is named where a device is found to have computed wrongly.
  void name_work(ModelId model, const std::vector<std::string>& names) const;

  // Where a model's stages were opened last: "cuda:0", "cuda:0,cpu"; "cpu" where they were not.
  [[nodiscard]] std::string device(ModelId model) const;

  // Vouches for what was given out and not vouched for yet: an error where a device was wrong and
  // no other is allowed. A device that is wrong stands among the report's moves.
  [[nodiscard]] Status settle() const;

  // Where everything that was opened is, what it did and why it is there.
  [[nodiscard]] PlacementReport report() const;

  // The report's stages, a line each, and what proofs took, for people.
  [[nodiscard]] std::vector<std::string> explain() const;

  // A device that had too little memory for a model.
  [[nodiscard]] std::optional<DeviceNoRoom> no_room(ModelId model) const {
    return state_->trust().no_room(model);
  }

  [[nodiscard]] PlacementState& state() const { return *state_; }

 private:
  std::shared_ptr<PlacementState> state_;
};

}  // namespace mynah::place
