// Silero behind VoiceDetector: samples of any number in, frames in batches through the network.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "formats/open.h"
#include "models/silero/silero.h"
#include "ops/ops.h"
#include "speech/session_state.h"
#include "speech/voice_detector.h"
#include "tensor/device_error.h"

namespace mynah {

namespace {

// Frames that go through the network together: enough rows for the products to run at full speed,
// few enough that what passes between the layers (20 KB a frame) stays in the processor's caches.
constexpr int64_t kFramesTogether = 96;

// Recordings that take their steps of the LSTM together.
constexpr size_t kRecordingsTogether = 24;

constexpr std::string_view kState = "silero 6";

// What is known of a recording before its next frame: the context, then samples of a frame that is
// not complete.
class FrameQueue {
 public:
  explicit FrameQueue(const SileroGeometry& geometry) : geometry_(&geometry) { reset(); }

  void reset() { samples_.assign(static_cast<size_t>(geometry_->context), 0.0F); }

  // Takes samples from the front of `input` for as many frames as `max_frames`, at most.
  void take(std::span<const float>& input, int64_t max_frames) {
    const auto wanted =
        static_cast<size_t>(geometry_->context + max_frames * geometry_->frame) - samples_.size();
    const std::span<const float> taken = input.first(std::min(wanted, input.size()));
    samples_.insert(samples_.end(), taken.begin(), taken.end());
    input = input.subspan(taken.size());
  }

  // True when samples wait that do not fill a frame.
  [[nodiscard]] bool partial() const {
    return static_cast<int64_t>(samples_.size()) > geometry_->context;
  }

  [[nodiscard]] std::span<const float> samples() const { return samples_; }

  // Whether so many samples can wait: the context, and less than a frame.
  [[nodiscard]] bool can_hold(int64_t samples) const {
    return samples >= geometry_->context && samples < geometry_->window();
  }

  // As many as can_hold().
  void set_samples(std::vector<float> samples) { samples_ = std::move(samples); }

  void pad_with_zeros() { samples_.resize(static_cast<size_t>(geometry_->window()), 0.0F); }

  // Appends the columns of every complete frame to `columns`; returns how many frames.
  int64_t cut(std::vector<float>& columns) {
    const int64_t frames =
        (static_cast<int64_t>(samples_.size()) - geometry_->context) / geometry_->frame;
    const auto frame_columns = static_cast<size_t>(kSileroColumns * geometry_->n_fft);
    for (int64_t i = 0; i < frames; ++i) {
      const auto window = std::span(samples_).subspan(static_cast<size_t>(i * geometry_->frame),
                                                      static_cast<size_t>(geometry_->window()));
      columns.resize(columns.size() + frame_columns);
      cut_silero_columns(window, *geometry_, std::span(columns).last(frame_columns));
    }
    samples_.erase(samples_.begin(), samples_.begin() + frames * geometry_->frame);
    return frames;
  }

 private:
  const SileroGeometry* geometry_;
  std::vector<float> samples_;
};

// The network and the device it runs on, shared by a detector and its sessions.
struct SileroModel {
  Silero network;
  Backend* backend;

  // Probabilities of frames whose columns lie one after another, in host memory.
  void run(std::span<const float> columns, const Lengths& frames, const SileroState& state,
           std::vector<float>& probabilities) const {
    const Tensor x = ops::from_host(*backend, columns,
                                    {frames.total() * kSileroColumns, network.geometry().n_fft});
    const Tensor y = network.forward(x, frames, state);
    probabilities.resize(static_cast<size_t>(frames.total()));
    ops::to_host(*backend, y, probabilities);
  }
};

class SileroSession final : public VoiceDetector::Session {
 public:
  explicit SileroSession(std::shared_ptr<const SileroModel> model)
      : model_(std::move(model)), queue_(model_->network.geometry()) {}

  Result<std::vector<float>> push(std::span<const float> samples) override {
    return or_device_error([&]() -> Result<std::vector<float>> {
      std::vector<float> probabilities;
      while (!samples.empty()) {
        queue_.take(samples, kFramesTogether);
        run(probabilities);
      }
      return probabilities;
    });
  }

  Result<std::vector<float>> flush() override {
    return or_device_error([&]() -> Result<std::vector<float>> {
      std::vector<float> probabilities;
      if (queue_.partial()) {
        queue_.pad_with_zeros();
        run(probabilities);
      }
      reset();
      return probabilities;
    });
  }

  void reset() override {
    queue_.reset();
    state_ = {};
  }

  // The rate, how many samples wait, those, then the LSTM's h and c where there is a state.
  [[nodiscard]] Result<std::vector<std::byte>> save() const override {
    return or_device_error([&]() -> Result<std::vector<std::byte>> {
      const std::span<const float> samples = queue_.samples();
      std::vector<double> values{static_cast<double>(model_->network.geometry().rate_hz),
                                 static_cast<double>(samples.size())};
      values.insert(values.end(), samples.begin(), samples.end());
      for (const Tensor& part : {state_.h, state_.c}) {
        if (part.defined()) {
          const std::vector<float> numbers = ops::to_host(*model_->backend, part);
          if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
            return fail(ErrorCode::Device, "vad computed a state of numbers that are none (NaN)");
          }
          values.insert(values.end(), numbers.begin(), numbers.end());
        }
      }
      return pack_state(kState, values);
    });
  }

  Status restore(std::span<const std::byte> state) override {
    return or_device_error([&]() -> Status {
      MYNAH_TRY(const std::vector<double> all, unpack_state(kState, state));
      const std::vector<float> values(all.begin(), all.end());
      const int rate_hz = model_->network.geometry().rate_hz;
      const float waiting = values.size() < 2 ? -1.0F : values[1];
      // A number this small is exact in f32.
      if (!(waiting >= 0 && waiting < 1e6F) || values[0] != static_cast<float>(rate_hz) ||
          !queue_.can_hold(static_cast<int64_t>(waiting))) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("wanted the state of a session at {} Hz whose samples are less than "
                        "a frame, found {} samples",
                        rate_hz, waiting));
      }
      const auto samples = static_cast<size_t>(waiting);
      SileroState known = model_->network.initial_state(1);
      const auto width = static_cast<size_t>(known.h.elements());
      const size_t numbers = values.size() - 2;
      if (numbers != samples && numbers != samples + 2 * width) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("wanted {} samples and {} numbers of a state or none, found {} "
                                "together",
                                samples, 2 * width, numbers));
      }
      const auto rest = std::span(values).subspan(2);
      if (numbers == samples) {
        known = {};
      } else {
        known.h = ops::from_host(*model_->backend, rest.subspan(samples, width), known.h.shape());
        known.c =
            ops::from_host(*model_->backend, rest.subspan(samples + width, width), known.c.shape());
      }
      queue_.set_samples({rest.begin(), rest.begin() + static_cast<ptrdiff_t>(samples)});
      state_ = std::move(known);
      return {};
    });
  }

 private:
  void run(std::vector<float>& probabilities) {
    columns_.clear();
    const int64_t frames = queue_.cut(columns_);
    if (frames == 0) {
      return;
    }
    if (!state_.h.defined()) {
      state_ = model_->network.initial_state(1);
    }
    model_->run(columns_, Lengths{frames}, state_, chunk_);
    probabilities.insert(probabilities.end(), chunk_.begin(), chunk_.end());
  }

  std::shared_ptr<const SileroModel> model_;
  FrameQueue queue_;
  SileroState state_;  // undefined before the first frame
  std::vector<float> columns_;
  std::vector<float> chunk_;
};

// Several whole recordings, as many frames of each at a time as fit. The longest is first, so that
// those which are not over yet are always the first rows of the state.
class SileroBatch {
 public:
  SileroBatch(const SileroModel& model, std::span<const std::span<const float>> recordings)
      : model_(model),
        state_(model.network.initial_state(static_cast<int64_t>(recordings.size()))) {
    for (const std::span<const float> samples : recordings) {
      rows_.push_back({samples, FrameQueue(model.network.geometry()), {}});
    }
  }

  // Probabilities of each recording, in the order given.
  std::vector<std::vector<float>> run() {
    int64_t live = live_rows();
    while (live > 0) {
      step(live);
      live = live_rows();
    }
    std::vector<std::vector<float>> results;
    results.reserve(rows_.size());
    for (Row& row : rows_) {
      results.push_back(std::move(row.probabilities));
    }
    return results;
  }

 private:
  struct Row {
    std::span<const float> rest;  // samples not yet in the queue
    FrameQueue queue;
    std::vector<float> probabilities;
  };

  [[nodiscard]] int64_t live_rows() const {
    return std::ranges::count_if(rows_, [](const Row& row) { return !row.rest.empty(); });
  }

  void step(int64_t live) {
    const int64_t frames_each = std::max<int64_t>(1, kFramesTogether / live);
    columns_.clear();
    Lengths frames;
    for (Row& row : std::span(rows_).first(static_cast<size_t>(live))) {
      row.queue.take(row.rest, frames_each);
      int64_t count = row.queue.cut(columns_);
      if (row.rest.empty() && row.queue.partial()) {
        row.queue.pad_with_zeros();
        count += row.queue.cut(columns_);
      }
      frames.add(count);
    }
    model_.run(columns_, frames, {state_.h.narrow(0, 0, live), state_.c.narrow(0, 0, live)},
               chunk_);
    for (int64_t i = 0; i < live; ++i) {
      const auto begin = chunk_.begin() + frames[i].begin;
      std::vector<float>& all = rows_[static_cast<size_t>(i)].probabilities;
      all.insert(all.end(), begin, begin + frames[i].length);
    }
  }

  const SileroModel& model_;
  SileroState state_;
  std::vector<Row> rows_;
  std::vector<float> columns_;
  std::vector<float> chunk_;
};

class SileroDetector final : public VoiceDetector {
 public:
  explicit SileroDetector(SileroModel model)
      : model_(std::make_shared<const SileroModel>(std::move(model))) {}

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<SileroSession>(model_);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    return or_device_error([&]() -> Result<std::vector<std::vector<float>>> {
      std::vector<size_t> order(recordings.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::ranges::stable_sort(order, std::ranges::greater(),
                               [&](size_t i) { return recordings[i].size(); });
      std::vector<std::vector<float>> results(recordings.size());
      for (size_t first = 0; first < order.size(); first += kRecordingsTogether) {
        const auto group =
            std::span(order).subspan(first, std::min(kRecordingsTogether, order.size() - first));
        std::vector<std::span<const float>> together;
        for (const size_t i : group) {
          together.push_back(recordings[i]);
        }
        std::vector<std::vector<float>> found = SileroBatch(*model_, together).run();
        for (size_t i = 0; i < group.size(); ++i) {
          results[group[i]] = std::move(found[i]);
        }
      }
      return results;
    });
  }

  [[nodiscard]] int rate_hz() const override { return model_->network.geometry().rate_hz; }

  [[nodiscard]] double frame_s() const override {
    const SileroGeometry& geometry = model_->network.geometry();
    return static_cast<double>(geometry.frame) / geometry.rate_hz;
  }

  [[nodiscard]] std::string name() const override { return "silero v6"; }

  [[nodiscard]] std::string device() const override { return model_->backend->device().str(); }

 private:
  std::shared_ptr<const SileroModel> model_;
};

}  // namespace

Result<std::shared_ptr<const VoiceDetector>> load_silero(const std::string& path, int rate_hz,
                                                         Backend& backend) {
  return or_device_error([&]() -> Result<std::shared_ptr<const VoiceDetector>> {
    MYNAH_TRY(const TensorFile file, open_tensor_file(path));
    MYNAH_TRY(Silero network, Silero::load(file, rate_hz, backend));
    return std::make_shared<const SileroDetector>(SileroModel{std::move(network), &backend});
  });
}

}  // namespace mynah
