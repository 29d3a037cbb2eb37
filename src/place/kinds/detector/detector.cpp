#include "place/kinds/detector/detector.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "place/kinds/detector/detector_wire.h"
#include "place/wire/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

constexpr double kProbeRate_hz = 16000;

// A step is longer for more sound.
constexpr std::array kDetectorStages = {StageFacts{
    .name = "vad",
    .probe_work = [](double sound_s, double /*window_s*/) { return std::max(sound_s, 1e-6); },
    .least_error = [](double /*sound_s*/) { return 1e-3; }}};

Status open_detector_in(WorkerLane& worker, const ModelFile& file, const StagePlaces& places) {
  return worker.tell(Ask::OpenDetector, load_limit(path_of(file)), std::get<DetectorFile>(file),
                     places.at(kVadStage));
}

constexpr Kind kDetectorRow{.name = "vad",
                            .stages = kDetectorStages,
                            .has_types = false,
                            .goes_along = true,
                            .host = host_detector,
                            .open_in = open_detector_in};

}  // namespace

const Kind& detector_kind() {
  return kDetectorRow;
}

Result<std::shared_ptr<const VoiceDetector>> load_detector(const DetectorFile& file,
                                                           Backend& backend) {
  return load_silero(file.path, file.rate_hz, backend);
}

Result<Probe> probe_detector(const VoiceDetector& detector) {
  const std::vector<float> sound = probe_sound(static_cast<size_t>(kProbeRate_hz));
  const std::span<const float> recording = sound;
  auto found = detector.probabilities(std::span(&recording, 1));
  if (!found) {
    throw DeviceError(found.error());
  }
  return Probe{.stages = {{.stage = std::string(stage_name(kVadStage)), .values = found->front()}},
               .sound_s = static_cast<double>(sound.size()) / detector.rate_hz()};
}

bool is_possible(const DetectorFacts& facts) {
  return is_rate(facts.rate_hz) && is_within(facts.frame_s, 1e-3, 10);
}

bool is_possible(std::span<const std::vector<float>> probabilities, size_t recordings) {
  return probabilities.size() == recordings;
}

}  // namespace mynah::place
