// Windows that are heard where they are placed: a batch that fails is heard again elsewhere, and
// nothing of it was told to anybody.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "place/placer.h"
#include "place/rungs.h"
#include "place/workers/load_stages.h"
#include "place/workers/remote.h"

namespace mynah::place {
namespace {

using WindowRungs = Rungs<WindowModel>;

// A device that computes nonsense shows it in likelihoods that are none.
bool is_sound(const WindowText& text) {
  const whisper::Generated& generated = text.generated;
  for (const float value : generated.log_probabilities) {
    if (!std::isfinite(value)) {
      return false;
    }
  }
  return std::isfinite(generated.sum_log_probability) &&
         std::isfinite(generated.no_speech_probability);
}

void check_sound(std::span<const WindowText> texts, const WindowRungs::Rung& rung) {
  const std::string device = devices_of(rung.where);
  for (const WindowText& text : texts) {
    if (!is_sound(text)) {
      throw DeviceError({ErrorCode::Device, device + " computed numbers that are none (NaN)"});
    }
  }
}

// "12.0 s of recording 1".
std::string range_of(std::span<const WindowTask> tasks) {
  return tasks.empty() ? std::string()
                       : fmt::format("{:.1f} s of recording {}", tasks.front().begin_s,
                                     tasks.front().job + 1);
}

class PlacedDecoder final : public WindowDecoder, private Keeper {
 public:
  PlacedDecoder(std::shared_ptr<WindowRungs> rungs, const RecognizerOptions& options)
      : rungs_(std::move(rungs)), options_(options) {
    rungs_->add(*this);
  }

  ~PlacedDecoder() override { rungs_->remove(*this); }

  PlacedDecoder(const PlacedDecoder&) = delete;
  PlacedDecoder& operator=(const PlacedDecoder&) = delete;

  // Makes the decoder, so that options are refused now.
  Status begin() {
    return rungs_->on_some_rung([&](const WindowRungs::Rung& rung) { return begin_on(rung); });
  }

  [[nodiscard]] std::vector<WindowText> decode(std::span<const WindowTask> tasks,
                                               const std::stop_token& stop) override {
    std::vector<WindowText> texts;
    while (texts.size() < tasks.size() && !stop.stop_requested()) {
      try {
        std::ranges::move(decode_some(tasks.subspan(texts.size()), stop),
                          std::back_inserter(texts));
      } catch (const DeviceError& error) {
        if (error.error().code != ErrorCode::Cancelled || !stop.stop_requested()) {
          throw;
        }
      }
    }
    texts.resize(tasks.size());  // once it is to stop they mean nothing
    return texts;
  }

  [[nodiscard]] WindowText draft(const WindowTask& task, const std::stop_token& stop) override {
    return compute([&] {
      WindowText text = decoder_->draft(task, stop);
      check_sound({&text, 1}, rung_);
      return text;
    });
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  // The first of the tasks: as many as there is memory for where they are heard.
  std::vector<WindowText> decode_some(std::span<const WindowTask> tasks,
                                      const std::stop_token& stop) {
    size_t windows = 0;
    return compute(
        [&] {
          windows = std::min(tasks.size(), rungs_->windows_together());
          const std::span<const WindowTask> some = tasks.first(windows);
          std::vector<WindowText> texts = decoder_->decode(some, stop);
          if (!stop.stop_requested()) {
            check_sound(texts, rung_);
            rungs_->vouch(rung_, range_of(some));
          }
          return texts;
        },
        &windows);
  }

  void let_go() override {
    decoder_.reset();
    rung_ = {};
  }

  Status begin_on(const WindowRungs::Rung& rung) {
    MYNAH_TRY(decoder_, rung.model->decoder(options_));
    rung_ = rung;
    rung_.use.reset();  // between two calls it may be let go
    return {};
  }

  // Does the work with a decoder of the device that is to be used. Throws DeviceError.
  template <class Compute>
  auto compute(const Compute& work, const size_t* windows = nullptr)
      -> std::invoke_result_t<Compute> {
    using Text = std::invoke_result_t<Compute>;
    Result<Text> done = rungs_->on_some_rung(
        [&](const WindowRungs::Rung& rung) -> Result<Text> {
          if (rung.number != rung_.number) {
            MYNAH_TRY_STATUS(begin_on(rung));
          }
          const WindowTimings before = decoder_->timings();
          auto result = work();
          timings_.add(decoder_->timings().since(before));
          return result;
        },
        windows);
    if (!done) {
      throw DeviceError(std::move(done).error());
    }
    return *std::move(done);
  }

  std::shared_ptr<WindowRungs> rungs_;
  RecognizerOptions options_;
  std::unique_ptr<WindowDecoder> decoder_;
  WindowRungs::Rung rung_;  // that decoder_ is of; number 0: of none
  WindowTimings timings_;
};

class PlacedWindows final : public WindowModel {
 public:
  PlacedWindows(std::shared_ptr<WindowRungs> rungs,
                std::shared_ptr<const whisper::ModelHeader> header)
      : rungs_(std::move(rungs)), header_(std::move(header)) {}

  [[nodiscard]] const whisper::ModelHeader& header() const override { return *header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const RecognizerOptions& options) const override {
    auto decoder = std::make_unique<PlacedDecoder>(rungs_, options);
    MYNAH_TRY_STATUS(decoder->begin());
    return decoder;
  }

  [[nodiscard]] Result<Probe> probe() const override { return rungs_->now().model->probe(); }

  [[nodiscard]] WindowDevices devices() const override {
    const StagePlaces where = rungs_->where();
    return {.encoder = where.at(Stage::SttEncoder).device,
            .decoder = where.at(Stage::SttDecoder).device};
  }

  [[nodiscard]] int parts() const override { return rungs_->now().model->parts(); }

  void run_parts(int parts, FunctionRef<void(int)> fn) const override {
    rungs_->now().model->run_parts(parts, fn);
  }

 private:
  std::shared_ptr<WindowRungs> rungs_;
  std::shared_ptr<const whisper::ModelHeader> header_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> Placer::windows(const WindowsFile& file) {
  MYNAH_TRY(whisper::ModelHeader read, read_whisper_header(file.path));
  const auto header = std::make_shared<const whisper::ModelHeader>(std::move(read));
  state_->expect(file);
  const auto open = [file, header](const StagePlaces& where,
                                   PlacementState& state) -> Result<WindowRungs::Opened> {
    const StageDevice& encoder = where.at(Stage::SttEncoder);
    const StageDevice& decoder = where.at(Stage::SttDecoder);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, state.worker_for(StageGroup::Stt, where));
      const StepPace pace = state.step_pace(StageGroup::Stt);
      MYNAH_TRY(auto model, open_remote_windows(worker, file, header, encoder, decoder, pace));
      return WindowRungs::Opened{.model = std::move(model),
                                 .probe = remote_probe(std::move(worker), StageGroup::Stt, pace)};
    }
    MYNAH_TRY(auto of_encoder, state.open_here(Stage::SttEncoder, encoder));
    MYNAH_TRY(auto of_decoder, state.open_here(Stage::SttDecoder, decoder));
    MYNAH_TRY(auto model, load_windows(file, {.backend = *of_encoder, .storage = encoder.storage},
                                       {.backend = *of_decoder, .storage = decoder.storage}));
    return WindowRungs::Opened{
        .model = keeping(std::move(model), std::move(of_encoder), std::move(of_decoder)),
        .probe = {}};
  };
  auto rungs = std::make_shared<WindowRungs>(StageGroup::Stt, state_, open);
  MYNAH_TRY_STATUS(rungs->begin());
  state_->add(hooks_of(rungs));
  return std::make_shared<const PlacedWindows>(std::move(rungs), header);
}

}  // namespace mynah::place
