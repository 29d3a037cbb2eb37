#include <utility>

#include "place/kinds/windows/windows.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/workers/load_limit.h"
#include "place/workers/remote_probe.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

class RemoteDecoder final : public WindowDecoder {
 public:
  RemoteDecoder(std::shared_ptr<WorkerLane> worker, uint64_t number,
                std::shared_ptr<const HearingHeader> header, const DecodingOptions& options,
                StepPace pace)
      : worker_(std::move(worker)),
        number_(number),
        header_(std::move(header)),
        effort_(header_->effort(options)),
        pace_(std::move(pace)) {}

  ~RemoteDecoder() override {
    try {
      // Nobody waits for more than this where it is gone already.
      (void)worker_->tell(Ask::DropDecoder, pace_.limit(), number_);
    } catch (const DeviceError&) {
      return;  // it went with its worker
    }
  }

  RemoteDecoder(const RemoteDecoder&) = delete;
  RemoteDecoder& operator=(const RemoteDecoder&) = delete;

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    const std::vector<WindowTask> list(tasks.begin(), tasks.end());
    std::vector<std::stop_token> rows;
    rows.reserve(tasks.size());
    for (const WindowTask& task : tasks) {
      rows.push_back(task.stop);
    }
    MYNAH_TRY(Decoded decoded,
              or_of_device(worker_->ask_for<Decoded>(Ask::Decode, limit_of(tasks.size()),
                                                     {stop, std::move(rows)}, number_, list)));
    if (decoded.heard.size() != tasks.size()) {
      worker_->end("answered with another number of texts than windows");
      return fail(ErrorCode::Device, "a worker answered with too few texts");
    }
    if (!stop.stop_requested()) {
      for (size_t i = 0; i < tasks.size(); ++i) {
        if (!tasks[i].stop.stop_requested()) {
          check(decoded.heard[i], tasks[i]);
        }
      }
    }
    timings_ = decoded.timings;
    return std::move(decoded.heard);
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    MYNAH_TRY(HeardWindow heard, or_of_device(worker_->ask_for<HeardWindow>(Ask::Draft, limit_of(1),
                                                                            stop, number_, task)));
    if (!stop.stop_requested()) {
      check(heard, task);
    }
    return heard;
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  struct Decoded {
    std::vector<HeardWindow> heard;
    WindowTimings timings;
  };

  template <class Archive>
  friend void wire(Archive& a, Decoded& v) {
    a(v.heard, v.timings);
  }

  // The encoder takes one full window, or less, at a time; the decoder all of them, and what was
  // measured of it is a window in as many sequences as usual.
  [[nodiscard]] StepLimit limit_of(size_t windows) const {
    return pace_.limit({{kSttEncoder, 1.0}, {kSttDecoder, effort_ * static_cast<double>(windows)}});
  }

  // What a worker refuses of a decoder that it made itself says that the worker is not as it was.
  template <class T>
  static Result<T> or_of_device(Result<T> answer) {
    if (!answer && !is_of_device(answer.error().code)) {
      answer.error().code = ErrorCode::Device;
    }
    return answer;
  }

  // A text is used to look things up in the model's vocabulary.
  void check(const HeardWindow& heard, const WindowTask& task) const {
    if (!is_possible(heard, header_->facts(), task.samples.size())) {
      worker_->refuse_answer();
    }
  }

  std::shared_ptr<WorkerLane> worker_;
  uint64_t number_;
  std::shared_ptr<const HearingHeader> header_;
  double effort_;  // a window costs the decoder, as a multiple of the usual
  StepPace pace_;
  WindowTimings timings_;
};

class RemoteWindows final : public WindowModel {
 public:
  RemoteWindows(std::shared_ptr<WorkerLane> worker, std::shared_ptr<const HearingHeader> header,
                WindowDevices devices, StepPace pace)
      : worker_(std::move(worker)),
        header_(std::move(header)),
        devices_(std::move(devices)),
        pace_(std::move(pace)) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    MYNAH_TRY(const auto number,
              worker_->ask_for<uint64_t>(Ask::NewDecoder, pace_.limit(), {}, options));
    return std::make_unique<RemoteDecoder>(worker_, number, header_, options, pace_);
  }

  [[nodiscard]] Result<Probe> probe() const override {
    return remote_probe(worker_, kSttGroup, pace_)();
  }

  [[nodiscard]] WindowDevices devices() const override { return devices_; }

 private:
  std::shared_ptr<WorkerLane> worker_;
  std::shared_ptr<const HearingHeader> header_;
  WindowDevices devices_;
  StepPace pace_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> open_remote_windows(
    std::shared_ptr<WorkerLane> worker, const WindowsFile& file,
    std::shared_ptr<const HearingHeader> header, const StageDevice& encoder,
    const StageDevice& decoder, StepPace pace) {
  MYNAH_TRY_STATUS(worker->tell(Ask::OpenWindows, load_limit(file.path), file, encoder, decoder));
  return std::make_shared<const RemoteWindows>(
      std::move(worker), std::move(header),
      WindowDevices{.encoder = encoder.device, .decoder = decoder.device}, std::move(pace));
}

}  // namespace mynah::place
