#include <algorithm>
#include <utility>

#include "place/discovery/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/remote.h"

namespace mynah::place {
namespace {

// How many sequences windows are decoded into at once.
double sequences_of(const RecognizerOptions& options) {
  return std::max(options.beam_size, options.best_of);
}

class RemoteDecoder final : public WindowDecoder {
 public:
  RemoteDecoder(std::shared_ptr<WorkerProcess> worker, uint64_t number,
                std::shared_ptr<const whisper::ModelHeader> header,
                const RecognizerOptions& options, StepPace pace)
      : worker_(std::move(worker)),
        number_(number),
        header_(std::move(header)),
        width_(std::max(1.0, sequences_of(options) / sequences_of({}))),
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

  [[nodiscard]] std::vector<WindowText> decode(std::span<const WindowTask> tasks,
                                               const std::stop_token& stop) override {
    const std::vector<WindowTask> list(tasks.begin(), tasks.end());
    auto decoded =
        worker_->ask_for<Decoded>(Ask::Decode, limit_of(tasks.size()), stop, number_, list);
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
    auto text = worker_->ask_for<WindowText>(Ask::Draft, limit_of(1), stop, number_, task);
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

  // The encoder takes one full window, or less, at a time; the decoder all of them, and what was
  // measured of it is a window in as many sequences as usual.
  [[nodiscard]] StepLimit limit_of(size_t windows) const {
    return pace_.limit(
        {{Stage::SttEncoder, 1.0}, {Stage::SttDecoder, width_ * static_cast<double>(windows)}});
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
  double width_;  // of its windows: sequences, as a multiple of the usual
  StepPace pace_;
  WindowTimings timings_;
};

class RemoteWindows final : public WindowModel {
 public:
  RemoteWindows(std::shared_ptr<WorkerProcess> worker,
                std::shared_ptr<const whisper::ModelHeader> header, WindowDevices devices,
                StepPace pace)
      : worker_(std::move(worker)),
        header_(std::move(header)),
        devices_(std::move(devices)),
        pace_(std::move(pace)) {}

  [[nodiscard]] const whisper::ModelHeader& header() const override { return *header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const RecognizerOptions& options) const override {
    MYNAH_TRY(const auto number,
              worker_->ask_for<uint64_t>(Ask::NewDecoder, pace_.limit(), {}, options));
    return std::make_unique<RemoteDecoder>(worker_, number, header_, options, pace_);
  }

  [[nodiscard]] Result<Probe> probe() const override {
    return remote_probe(worker_, StageGroup::Stt, pace_)();
  }

  [[nodiscard]] WindowDevices devices() const override { return devices_; }

 private:
  std::shared_ptr<WorkerProcess> worker_;
  std::shared_ptr<const whisper::ModelHeader> header_;
  WindowDevices devices_;
  StepPace pace_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> open_remote_windows(
    std::shared_ptr<WorkerProcess> worker, const WindowsFile& file,
    std::shared_ptr<const whisper::ModelHeader> header, const StageDevice& encoder,
    const StageDevice& decoder, StepPace pace) {
  MYNAH_TRY_STATUS(worker->tell(Ask::OpenWindows, load_limit(file.path), file, encoder, decoder));
  return std::make_shared<const RemoteWindows>(
      std::move(worker), std::move(header),
      WindowDevices{.encoder = encoder.device, .decoder = decoder.device}, std::move(pace));
}

}  // namespace mynah::place
