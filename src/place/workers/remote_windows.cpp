#include <utility>

#include "place/discovery/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/remote.h"

namespace mynah::place {
namespace {

// Seconds that a position of the encoder stands for (docs/models/whisper.md: two mel frames of 10
// ms).
constexpr double kPosition_s = 0.02;

// Sound that a window may be work for: what is doubtful is listened to again in the whole window,
// and the first of all brings silence's, however short a recording is.
double window_s(const whisper::ModelHeader& header) {
  return static_cast<double>(header.config.n_audio_ctx) * kPosition_s;
}

class RemoteDecoder final : public WindowDecoder {
 public:
  RemoteDecoder(std::shared_ptr<WorkerProcess> worker, uint64_t number,
                std::shared_ptr<const whisper::ModelHeader> header, StepLimit limit)
      : worker_(std::move(worker)),
        number_(number),
        header_(std::move(header)),
        window_s_(window_s(*header_)),
        limit_(std::move(limit)) {}

  ~RemoteDecoder() override {
    try {
      // Nobody waits for more than this where it is gone already.
      (void)worker_->tell(Ask::DropDecoder, limit_(0), number_);
    } catch (const DeviceError&) {
      return;  // it went with its worker
    }
  }

  RemoteDecoder(const RemoteDecoder&) = delete;
  RemoteDecoder& operator=(const RemoteDecoder&) = delete;

  [[nodiscard]] std::vector<WindowText> decode(std::span<const WindowTask> tasks,
                                               const std::stop_token& stop) override {
    const std::vector<WindowTask> list(tasks.begin(), tasks.end());
    const double seconds = window_s_ * static_cast<double>(tasks.size());
    auto decoded = worker_->ask_for<Decoded>(Ask::Decode, limit_(seconds), stop, number_, list);
    if (!decoded) {
      throw DeviceError(std::move(decoded).error());
    }
    if (decoded->texts.size() != tasks.size()) {
      worker_->end("answered with another number of texts than windows");
      throw DeviceError({ErrorCode::Device, "a worker answered with too few texts"});
    }
    if (!stop.stop_requested()) {
      for (const WindowText& text : decoded->texts) {
        check(text);
      }
    }
    timings_ = decoded->timings;
    return std::move(decoded->texts);
  }

  [[nodiscard]] WindowText draft(const WindowTask& task, const std::stop_token& stop) override {
    auto text = worker_->ask_for<WindowText>(Ask::Draft, limit_(window_s_), stop, number_, task);
    if (!text) {
      throw DeviceError(std::move(text).error());
    }
    if (!stop.stop_requested()) {
      check(*text);
    }
    return *std::move(text);
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  struct Decoded {
    std::vector<WindowText> texts;
    WindowTimings timings;
  };

  template <class Archive>
  friend void wire(Archive& a, Decoded& v) {
    a(v.texts, v.timings);
  }

  // A text is used to look things up in the model's vocabulary.
  void check(const WindowText& text) const {
    if (!is_possible(text, header_->tokenizer)) {
      worker_->refuse_answer();
    }
  }

  std::shared_ptr<WorkerProcess> worker_;
  uint64_t number_;
  std::shared_ptr<const whisper::ModelHeader> header_;
  double window_s_;
  StepLimit limit_;
  WindowTimings timings_;
};

class RemoteWindows final : public WindowModel {
 public:
  RemoteWindows(std::shared_ptr<WorkerProcess> worker,
                std::shared_ptr<const whisper::ModelHeader> header, WindowDevices devices,
                StepLimit limit)
      : worker_(std::move(worker)),
        header_(std::move(header)),
        devices_(std::move(devices)),
        limit_(std::move(limit)) {}

  [[nodiscard]] const whisper::ModelHeader& header() const override { return *header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const RecognizerOptions& options) const override {
    MYNAH_TRY(const auto number,
              worker_->ask_for<uint64_t>(Ask::NewDecoder, limit_(0), {}, options));
    return std::make_unique<RemoteDecoder>(worker_, number, header_, limit_);
  }

  [[nodiscard]] Result<Probe> probe() const override {
    return remote_probe(worker_, StageGroup::Stt, limit_)();
  }

  [[nodiscard]] WindowDevices devices() const override { return devices_; }

 private:
  std::shared_ptr<WorkerProcess> worker_;
  std::shared_ptr<const whisper::ModelHeader> header_;
  WindowDevices devices_;
  StepLimit limit_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> open_remote_windows(
    std::shared_ptr<WorkerProcess> worker, const WindowsFile& file,
    std::shared_ptr<const whisper::ModelHeader> header, const StageDevice& encoder,
    const StageDevice& decoder, StepLimit limit) {
  MYNAH_TRY_STATUS(worker->tell(Ask::OpenWindows, load_limit(file.path), file, encoder, decoder));
  return std::make_shared<const RemoteWindows>(
      std::move(worker), std::move(header),
      WindowDevices{.encoder = encoder.device, .decoder = decoder.device}, std::move(limit));
}

}  // namespace mynah::place
