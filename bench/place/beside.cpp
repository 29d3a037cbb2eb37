#include "beside.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/stop_scope.h"
#include "base/turns.h"
#include "pairs.h"
#include "place/placer.h"
#include "place/terms/device_request.h"
#include "speech/voice_model.h"
#include "tensor/device_error.h"
#include "work.h"

namespace mynah::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kRate_hz = 16000;
constexpr double kLong_s = 30;  // of sound, of the long work

double since_ms(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Work that takes long, bit by bit.
struct LongWork {
  std::string name;
  // The bits that it is made of; each gives its answer as a text.
  std::vector<std::function<Result<std::string>()>> bits;
};

class Beside {
 public:
  explicit Beside(const BesideOptions& options) : options_(options) {}

  Result<Json> run() {
    MYNAH_TRY_STATUS(open());
    Json report = Json::array();
    MYNAH_TRY(Json voice, measure(clauses()));
    report.push_back(std::move(voice));
    MYNAH_TRY(const LongWork windows, batches());
    MYNAH_TRY(Json same, measure(windows));
    report.push_back(std::move(same));
    MYNAH_TRY(Json stops, stop_all());
    report.push_back(std::move(stops));
    return report;
  }

 private:
  Status open() {
    for (const std::string& file : options_.recordings) {
      MYNAH_TRY(std::vector<float> sound, read_sound(file));
      sounds_.push_back(std::move(sound));
    }
    if (sounds_.size() < 2) {
      return fail(ErrorCode::Usage, "wanted a recording to hear and others to hear beside it");
    }
    place::PlacerOptions wish;
    MYNAH_TRY(wish.request, place::parse_device_request(options_.request));
    wish.settings.threads = options_.threads;
    wish.worker_program = options_.program;
    wish.cache_folder = options_.cache_folder;
    wish.batch = static_cast<int>(kTogether);
    placer_.emplace(std::move(wish));
    MYNAH_TRY(windows_, placer_->windows({.path = options_.whisper,
                                          .precision = Precision::Fast,
                                          .cache_folder = options_.cache_folder}));
    MYNAH_TRY(voice_, placer_->voice({.family = options_.family,
                                      .path = options_.voice,
                                      .config = {},
                                      .voices = {},
                                      .name = options_.family,
                                      .precision = Precision::Fast,
                                      .cache_folder = options_.cache_folder}));
    MYNAH_TRY(urgent_, windows_->decoder({}));
    return {};
  }

  [[nodiscard]] LongWork clauses() const {
    LongWork work{.name = "30 s of clauses by " + options_.family, .bits = {}};
    const auto sound = voice_->speak(words_, {});
    const double clause_s =
        sound ? static_cast<double>(sound->samples.size()) / voice_->rate_hz() : kLong_s;
    for (double spoken_s = 0; spoken_s < kLong_s; spoken_s += clause_s) {
      work.bits.emplace_back([this]() -> Result<std::string> {
        MYNAH_TRY(const ClauseSound spoken, voice_->speak(words_, {}));
        return std::string(reinterpret_cast<const char*>(spoken.samples.data()),
                           spoken.samples.size() * sizeof(float));
      });
    }
    return work;
  }

  // Windows of the recordings but the first.
  [[nodiscard]] std::vector<WindowTask> batch() const {
    std::vector<WindowTask> tasks(kTogether);
    for (size_t i = 0; i < tasks.size(); ++i) {
      const auto& sound = sounds_[1 + i % (sounds_.size() - 1)];
      tasks[i].samples = std::span(sound).first(std::min<size_t>(sound.size(), 30 * kRate_hz));
    }
    return tasks;
  }

  // As many batches as there are parts are at work at a time, as JobScheduler has them.
  Result<LongWork> batches() {
    LongWork work{.name = "windows of the same model", .bits = {}};
    const std::vector<WindowTask> tasks = batch();
    const int parts = windows_->parts();
    for (int part = 0; part < parts; ++part) {
      MYNAH_TRY(auto decoder, windows_->decoder({}));
      decoders_.push_back(std::move(decoder));
    }
    for (int i = 0; i < 2; ++i) {
      work.bits.emplace_back([this, tasks, parts]() -> Result<std::string> {
        std::vector<Result<std::string>> texts(static_cast<size_t>(parts), std::string());
        windows_->run_parts(parts, [&](int part) {
          texts[static_cast<size_t>(part)] = text_of(*decoders_[static_cast<size_t>(part)], tasks);
        });
        std::string all;
        for (const auto& text : texts) {
          MYNAH_TRY(const std::string some, text);
          all += some;
        }
        return all;
      });
    }
    return work;
  }

  static Result<std::string> text_of(WindowDecoder& decoder, std::span<const WindowTask> tasks) {
    MYNAH_TRY(const auto heard, decoder.decode(tasks, {}));
    std::string text;
    for (const HeardWindow& window : heard) {
      text += window.text() + "\n";
    }
    return text;
  }

  Result<std::string> hear_urgently() {
    const UrgencyScope urgent(Urgency::Interactive);
    WindowTask task;
    task.samples = sounds_[0];
    return text_of(*urgent_, std::span(&task, 1));
  }

  // All of it, and how long that took.
  static Result<std::string> do_all(const LongWork& work, double& took_ms) {
    const auto begin = Clock::now();
    std::string all;
    for (const auto& bit : work.bits) {
      MYNAH_TRY(const std::string some, bit());
      all += some;
    }
    took_ms = since_ms(begin);
    return all;
  }

  // Operations of each model so far, every millisecond.
  Json count_operations(const std::stop_token& until) const {
    Json counts = Json::array();
    const auto begin = Clock::now();
    while (!until.stop_requested()) {
      Json row = {since_ms(begin)};
      uint64_t hearing = 0;
      uint64_t speaking = 0;
      for (const StagePlacement& stage : placer_->report().stages) {
        (stage.stage.starts_with("stt") ? hearing : speaking) += stage.operations;
      }
      row.push_back(hearing);
      row.push_back(speaking);
      counts.push_back(std::move(row));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return counts;
  }

  Result<Json> measure(const LongWork& work) {
    constexpr int kTurns = 20;
    double warm_ms = 0;
    MYNAH_TRY(const std::string text, hear_urgently());
    if (text.find_first_not_of(" \n") == std::string::npos) {
      return fail(ErrorCode::InvalidInput, "nothing is heard in the first recording");
    }
    MYNAH_TRY(const std::string done, do_all(work, warm_ms));
    const int turns = std::max(3, static_cast<int>(kTurns * options_.turns));
    std::vector<double> alone;
    std::vector<double> beside;
    std::vector<double> ratios;
    std::vector<double> losses;
    Json timeline;
    for (int turn = 0; turn < turns; ++turn) {
      Result<std::string> heard = std::string();
      const double alone_ms = milliseconds_of([&] { heard = hear_urgently(); });
      MYNAH_TRY_STATUS(check(heard, text));
      double long_alone_ms = 0;
      Result<std::string> all = std::string();
      // On a thread of its own, with memory of its own, as below.
      std::jthread([&] { all = do_all(work, long_alone_ms); }).join();
      MYNAH_TRY_STATUS(check(all, done));

      double long_beside_ms = 0;
      double beside_ms = 0;
      double urged_ms = 0;
      {
        std::jthread counting;
        const bool shows = turn == turns / 2;
        if (shows) {
          counting = std::jthread(
              [&](const std::stop_token& until) { timeline = count_operations(until); });
        }
        const auto begin = Clock::now();
        std::jthread working([&] { all = do_all(work, long_beside_ms); });
        // At another point of the long work each time, and so that it is not done by then.
        const double at = 0.1 + 0.5 * turn / turns;
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(at * long_alone_ms));
        urged_ms = since_ms(begin);
        beside_ms = milliseconds_of([&] { heard = hear_urgently(); });
      }
      MYNAH_TRY_STATUS(check(heard, text));
      MYNAH_TRY_STATUS(check(all, done));
      if (!timeline.is_null() && !timeline.contains("urgent_ms")) {
        timeline = {{"urgent_ms", {urged_ms, urged_ms + beside_ms}}, {"operations", timeline}};
      }
      alone.push_back(alone_ms);
      beside.push_back(beside_ms);
      ratios.push_back(beside_ms / alone_ms);
      losses.push_back((long_beside_ms - long_alone_ms) / beside_ms);
      fmt::print(stderr, "... {}: {:.0f} ms alone, {:.0f} beside; the long work {:.0f}, {:.0f}\n",
                 work.name, alone_ms, beside_ms, long_alone_ms, long_beside_ms);
    }
    return Json{{"beside", work.name},
                {"utterance_s", static_cast<double>(sounds_[0].size()) / kRate_hz},
                {"alone_ms", median(alone)},
                {"beside_ms", median(beside)},
                {"ratio", median(ratios)},
                {"ratio_95", quantile(ratios, 0.95)},
                {"lost_of_urgent", median(losses)},
                {"timeline", std::move(timeline)}};
  }

  // How long after a stop, at a moment of chance, the thread that computes is free again: of a
  // clause, and of a batch of windows.
  Result<Json> stop_all() {
    const auto speak = [this](const std::stop_token& stop) -> Status {
      const StopScope wanted(stop);
      MYNAH_TRY_STATUS(voice_->speak(words_, {}));
      return {};
    };
    const std::vector<WindowTask> tasks = batch();
    const auto hear = [&](const std::stop_token& stop) -> Status {
      MYNAH_TRY_STATUS(urgent_->decode(tasks, stop));
      return {};
    };
    MYNAH_TRY(Json of_voice, stops_of(speak));
    MYNAH_TRY(Json of_windows, stops_of(hear));
    return Json{
        {"stopped", {{options_.family, std::move(of_voice)}, {"tiny.en", std::move(of_windows)}}}};
  }

  template <class Compute>
  Result<Json> stops_of(const Compute& compute) {
    constexpr int kStops = 200;
    Status done;
    const double whole_ms = milliseconds_of([&] { done = compute(std::stop_token()); });
    MYNAH_TRY_STATUS(done);
    std::vector<double> free_ms;
    std::mt19937 chance(1);
    std::uniform_real_distribution<double> moment(0, whole_ms);
    for (int i = 0; i < kStops; ++i) {
      std::stop_source stop;
      Clock::time_point ended;
      std::jthread working([&] {
        done = compute(stop.get_token());
        ended = Clock::now();
      });
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(moment(chance)));
      const auto stopped = Clock::now();
      stop.request_stop();
      working.join();
      if (!done && done.error().code != ErrorCode::Cancelled) {
        return std::unexpected(done.error());
      }
      free_ms.push_back(
          std::max(0.0, std::chrono::duration<double, std::milli>(ended - stopped).count()));
    }
    return Json{{"whole_ms", whole_ms},
                {"median_ms", median(free_ms)},
                {"p95_ms", quantile(free_ms, 0.95)},
                {"most_ms", quantile(free_ms, 1.0)}};
  }

  static Status check(const Result<std::string>& found, const std::string& wanted) {
    if (!found) {
      return std::unexpected(found.error());
    }
    return *found == wanted ? Status{}
                            : fail(ErrorCode::InvalidInput, "an answer is another one than alone");
  }

  static constexpr size_t kTogether = 8;  // windows

  const BesideOptions& options_;
  std::vector<std::vector<float>> sounds_;
  std::optional<place::Placer> placer_;
  std::shared_ptr<const WindowModel> windows_;
  std::unique_ptr<const VoiceModel> voice_;
  std::unique_ptr<WindowDecoder> urgent_;
  std::vector<std::unique_ptr<WindowDecoder>> decoders_;
  std::vector<PhonemeWord> words_ = sentence();
};

}  // namespace

Result<nlohmann::ordered_json> bench_beside(const BesideOptions& options) try {
  return Beside(options).run();
} catch (const DeviceError& error) {
  return std::unexpected(error.error());
}

}  // namespace mynah::bench
