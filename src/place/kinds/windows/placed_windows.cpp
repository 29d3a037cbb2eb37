// Windows that are heard where they are placed: a batch that fails is heard again elsewhere, and
// nothing of it was told to anybody.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "place/kinds/windows/windows.h"
#include "place/state/rungs.h"
#include "place/workers/remote_probe.h"

namespace mynah::place {
namespace {

using WindowRungs = Rungs<WindowModel>;

// A device that computes nonsense shows it in likelihoods that are none.
bool is_sound(const HeardWindow& heard) {
  const auto are_numbers = [](std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  };
  return std::isfinite(heard.doubt.mean_log_probability) &&
         std::isfinite(heard.doubt.no_speech_probability) &&
         std::ranges::all_of(heard.segments, [&](const Segment& segment) {
           return are_numbers(segment.token_log_probabilities);
         });
}

Status check_sound(std::span<const HeardWindow> windows, const WindowRungs::Rung& rung) {
  if (!std::ranges::all_of(windows, is_sound)) {
    return fail(ErrorCode::Device,
                devices_of(rung.where) + " computed numbers that are none (NaN)");
  }
  return {};
}

// "12.0 s of recording 1".
std::string range_of(std::span<const WindowTask> tasks) {
  return tasks.empty() ? std::string()
                       : fmt::format("{:.1f} s of recording {}", tasks.front().begin_s,
                                     tasks.front().job + 1);
}

class PlacedDecoder final : public WindowDecoder, private Keeper {
 public:
  PlacedDecoder(std::shared_ptr<WindowRungs> rungs, const DecodingOptions& options)
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

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    std::vector<HeardWindow> heard;
    while (heard.size() < tasks.size() && !stop.stop_requested()) {
      auto some = decode_some(tasks.subspan(heard.size()), stop);
      if (some) {
        std::ranges::move(*some, std::back_inserter(heard));
      } else if (some.error().code != ErrorCode::Cancelled || !stop.stop_requested()) {
        return some;
      }
    }
    heard.resize(tasks.size());  // once it is to stop they mean nothing
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    return compute([&]() -> Result<HeardWindow> {
      MYNAH_TRY(HeardWindow heard, decoder_->draft(task, stop));
      MYNAH_TRY_STATUS(check_sound({&heard, 1}, rung_));
      return heard;
    });
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  // The first of the tasks: as many as there is memory for where they are heard.
  Result<std::vector<HeardWindow>> decode_some(std::span<const WindowTask> tasks,
                                               const std::stop_token& stop) {
    size_t windows = 0;
    return compute(
        [&]() -> Result<std::vector<HeardWindow>> {
          windows = std::min(tasks.size(), rungs_->windows_together());
          const std::span<const WindowTask> some = tasks.first(windows);
          MYNAH_TRY(std::vector<HeardWindow> heard, decoder_->decode(some, stop));
          if (!stop.stop_requested()) {
            MYNAH_TRY_STATUS(check_sound(heard, rung_));
            rungs_->vouch(rung_, range_of(some));
          }
          return heard;
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

  // Does the work with a decoder of the device that is to be used.
  template <class Compute>
  std::invoke_result_t<Compute> compute(const Compute& work, const size_t* windows = nullptr) {
    return rungs_->on_some_rung(
        [&](const WindowRungs::Rung& rung) -> std::invoke_result_t<Compute> {
          if (rung.number != rung_.number) {
            MYNAH_TRY_STATUS(begin_on(rung));
          }
          const WindowTimings before = decoder_->timings();
          auto result = work();
          timings_.add(decoder_->timings().since(before));
          return result;
        },
        windows);
  }

  std::shared_ptr<WindowRungs> rungs_;
  DecodingOptions options_;
  std::unique_ptr<WindowDecoder> decoder_;
  WindowRungs::Rung rung_;  // that decoder_ is of; number 0: of none
  WindowTimings timings_;
};

class PlacedWindows final : public WindowModel {
 public:
  PlacedWindows(std::shared_ptr<WindowRungs> rungs, std::shared_ptr<const HearingHeader> header)
      : rungs_(std::move(rungs)), header_(std::move(header)) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    auto decoder = std::make_unique<PlacedDecoder>(rungs_, options);
    MYNAH_TRY_STATUS(decoder->begin());
    return decoder;
  }

  [[nodiscard]] Result<Probe> probe() const override { return rungs_->now().model->probe(); }

  [[nodiscard]] WindowDevices devices() const override {
    const StagePlaces where = rungs_->where();
    return {.encoder = where.at(kSttEncoder).device, .decoder = where.at(kSttDecoder).device};
  }

  [[nodiscard]] int parts() const override { return rungs_->now().model->parts(); }

  void run_parts(int parts, FunctionRef<void(int)> fn) const override {
    rungs_->now().model->run_parts(parts, fn);
  }

 private:
  std::shared_ptr<WindowRungs> rungs_;
  std::shared_ptr<const HearingHeader> header_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> place_windows_on(
    const std::shared_ptr<PlacementState>& state, const WindowsFile& file,
    const std::optional<StageDevices>& only) {
  MYNAH_TRY(const std::shared_ptr<const HearingFile> opened, open_hearing(file.path));
  const auto header = opened->header();
  const ModelId id = state->context().expect(file, only);
  // The file is read once for the start; who opens the model later opens it anew.
  const auto open = [id, file, header, now = std::weak_ptr(opened)](
                        const StagePlaces& where,
                        PlacementState& here) -> Result<WindowRungs::Opened> {
    const StageDevice& encoder = where.at(kSttEncoder);
    const StageDevice& decoder = where.at(kSttDecoder);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, here.openings().worker_for(id, where));
      const StepPace pace = here.planner().step_pace(id);
      MYNAH_TRY(auto model, open_remote_windows(worker, file, header, encoder, decoder, pace));
      return WindowRungs::Opened{.model = std::move(model),
                                 .probe = remote_probe(std::move(worker), kSttGroup, pace)};
    }
    MYNAH_TRY(auto of_encoder, here.openings().open_here(id, kSttEncoder, encoder));
    MYNAH_TRY(auto of_decoder, here.openings().open_here(id, kSttDecoder, decoder));
    std::shared_ptr<const HearingFile> read = now.lock();
    if (read == nullptr) {
      MYNAH_TRY(read, open_hearing(file.path));
    }
    MYNAH_TRY(auto model,
              load_windows(*read, file, {.backend = *of_encoder, .storage = encoder.storage},
                           {.backend = *of_decoder, .storage = decoder.storage}));
    return WindowRungs::Opened{
        .model = keeping(std::move(model), std::move(of_encoder), std::move(of_decoder)),
        .probe = {}};
  };
  auto rungs = std::make_shared<WindowRungs>(id, state, open);
  MYNAH_TRY_STATUS(rungs->begin());
  state->openings().add(hooks_of(rungs));
  return std::make_shared<const PlacedWindows>(std::move(rungs), header);
}

}  // namespace mynah::place
