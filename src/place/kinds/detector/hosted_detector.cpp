#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "place/kinds/detector/detector.h"
#include "place/kinds/detector/detector_wire.h"
#include "place/workers/hosted_model.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

class HostedDetector final : public HostedModel {
 public:
  explicit HostedDetector(HostServices& host) : host_(host) {}

  [[nodiscard]] std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                         RequestStops& /*stops*/) override {
    switch (what) {
      case Ask::OpenDetector:
        return open(in);
      case Ask::Listen:
        return listen(in);
      case Ask::Probabilities:
        return probabilities(in);
      default:
        return std::nullopt;
    }
  }

  void close() override { detector_.reset(); }

  [[nodiscard]] Result<Probe> probe() override {
    return detector_ == nullptr ? not_open(kVadGroup) : probe_detector(*detector_);
  }

 private:
  Result<WireWriter> open(WireReader& in) {
    DetectorFile file;
    StageDevice where;
    in(file, where);
    MYNAH_TRY_STATUS(check_read(in));
    detector_.reset();
    MYNAH_TRY(Backend * backend, host_.open(kVadStage, where));
    MYNAH_TRY(detector_, load_detector(file, *backend));
    return answer_of(DetectorFacts{.rate_hz = detector_->rate_hz(),
                                   .frame_s = detector_->frame_s(),
                                   .name = detector_->name()});
  }

  Result<WireWriter> listen(WireReader& in) {
    std::vector<std::byte> state;
    std::span<const float> samples;
    bool flush = false;
    in(state, samples, flush);
    MYNAH_TRY_STATUS(check_read(in));
    if (detector_ == nullptr) {
      return not_open(kVadGroup);
    }
    host_.begin_call(kVadGroup);
    const auto session = detector_->session();
    if (!state.empty()) {
      MYNAH_TRY_STATUS(session->restore(state));
    }
    auto heard = flush ? session->flush() : session->push(samples);
    if (!heard) {
      throw DeviceError(std::move(heard).error());
    }
    MYNAH_TRY(const std::vector<std::byte> after, session->save());
    return answer_of(*heard, after);
  }

  Result<WireWriter> probabilities(WireReader& in) {
    std::vector<std::span<const float>> recordings;
    in(recordings);
    MYNAH_TRY_STATUS(check_read(in));
    if (detector_ == nullptr) {
      return not_open(kVadGroup);
    }
    host_.begin_call(kVadGroup);
    auto found = detector_->probabilities(recordings);
    if (!found) {
      throw DeviceError(std::move(found).error());
    }
    return answer_of(*found);
  }

  HostServices& host_;
  std::shared_ptr<const VoiceDetector> detector_;
};

}  // namespace

std::unique_ptr<HostedModel> host_detector(HostServices& services) {
  return std::make_unique<HostedDetector>(services);
}

}  // namespace mynah::place
