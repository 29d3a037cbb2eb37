#include "place/placer.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/kinds/kinds.h"
#include "place/report.h"

namespace mynah::place {

Placer::Placer(PlacerOptions options)
    : state_(std::make_shared<PlacementState>(std::move(options))) {}

// Stands here, since the state may go with a model that its own thread tends and was the last to
// hold.
Placer::~Placer() {
  state_->stop_tending();
}

StageGroup detecting_group() {
  return kVadGroup;
}

StageGroup hearing_group() {
  return kSttGroup;
}

StageGroup speaking_group() {
  return kTtsGroup;
}

StageGroup writing_group() {
  return kLlmGroup;
}

StageGroup embedding_group() {
  return kEmbedGroup;
}

Result<std::shared_ptr<const VoiceDetector>> Placer::detector(const DetectorFile& file) {
  return place_detector(state_, file);
}

Result<std::shared_ptr<const WindowModel>> Placer::windows(const WindowsFile& file) {
  return place_windows(state_, file);
}

Result<std::unique_ptr<const VoiceModel>> Placer::voice(const VoiceModelFile& file) {
  return place_voice(state_, file);
}

Result<std::shared_ptr<const LanguageModel>> Placer::language(
    const LanguageFile& file, const std::shared_ptr<const WritingFile>& opened) {
  return place_language(state_, file, opened);
}

Result<LanguageFile> Placer::cut(const LanguageFile& file, const WritingFile& opened,
                                 std::optional<int64_t> card_layers) {
  return cut_language(*state_, file, opened, card_layers);
}

Result<std::shared_ptr<const EmbeddingModel>> Placer::embeddings(
    const EmbeddingFile& file, const std::shared_ptr<const TensorFile>& opened) {
  return place_embeddings(state_, file, opened);
}

Status Placer::check_request() const {
  const PlacerOptions& options = state_->context().options();
  std::set<std::string> alone;
  for (const Stage stage : all_stages()) {
    const StageDevices& wanted = options.request.of(stage);
    if (!wanted.may_fall_back()) {
      alone.insert(wanted.devices.begin(), wanted.devices.end());
    }
  }
  for (const std::string& device : alone) {
    MYNAH_TRY_STATUS(state_->openings().check_named(device));
  }
  return {};
}

Status Placer::check_processor(StageGroup group, const std::string& what) const {
  const DeviceRequest& request = state_->context().options().request;
  if (!request.profile.empty()) {
    return fail(ErrorCode::Device,
                fmt::format("--device {}: a profile is of a model that was pulled, and {} is none; "
                            "leave --device out, or name the model",
                            describe(request), what));
  }
  for (const Stage stage : stages_of(group)) {
    const StageDevices& wanted = request.of(stage);
    if ((!wanted.automatic || wanted.fastest) &&
        std::ranges::find(wanted.devices, "cpu") == wanted.devices.end()) {
      return fail(
          ErrorCode::Device,
          fmt::format("--device {}: {} computes on the processor alone; leave --device out, "
                      "or name a model that was pulled",
                      describe(request), what));
    }
  }
  return {};
}

Status Placer::check_profile(StageGroup group) const {
  return state_->wishes().check_profile(group);
}

ModelId Placer::id_of(const ModelFile& file) const {
  return state_->context().expect(file);
}

std::string Placer::device(ModelId model) const {
  std::vector<std::string> devices;
  const std::vector<ModelId> beside = state_->context().beside(model);
  devices.reserve(beside.size());
  for (const ModelId one : beside) {
    devices.push_back(devices_of(state_->openings().places(one)));
  }
  return fmt::format("{}", fmt::join(devices, "+"));
}

void Placer::name_work(ModelId model, const std::vector<std::string>& names) const {
  for (const ModelId one : state_->context().beside(model)) {
    state_->openings().name_work(one, names);
  }
}

Status Placer::settle() const {
  return state_->settle();
}

PlacementReport Placer::report() const {
  return make_report(*state_);
}

std::vector<std::string> Placer::explain() const {
  return explain_report(make_report(*state_));
}

}  // namespace mynah::place
