#include "boundary.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "pairs.h"
#include "place/kinds/detector/detector_wire.h"
#include "place/kinds/kinds.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/state/placement_state.h"
#include "place/wire/wire_types.h"
#include "place/workers/open_device.h"
#include "place/workers/remote_probe.h"
#include "tensor/device_error.h"
#include "tensor/watched_backend.h"
#include "work.h"

namespace mynah::bench {
namespace {

using Json = nlohmann::ordered_json;
using place::StageDevice;

constexpr int kRate_hz = 16000;
constexpr size_t kLiveSamples = 512;  // 32 ms, a frame of Silero

template <class... T>
std::string bytes_of(const T&... values) {
  place::WireWriter writer;
  writer(values...);
  const auto bytes = writer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Ten minutes for whatever computes: twenty times this.
place::StepPace no_limit() {
  place::StepPace pace;
  for (const place::Stage stage : place::all_stages()) {
    pace.measured(stage, 30'000, 1);
  }
  return pace;
}

double seconds_of(std::span<const std::vector<float>> sounds) {
  double seconds = 0;
  for (const auto& sound : sounds) {
    seconds += static_cast<double>(sound.size()) / kRate_hz;
  }
  return seconds;
}

class Boundary {
 public:
  explicit Boundary(const BoundaryOptions& options) : options_(options) {}

  Result<Json> run() {
    for (const std::string& file : options_.recordings) {
      MYNAH_TRY(std::vector<float> sound, read_sound(file));
      sounds_.push_back(std::move(sound));
    }
    if (sounds_.empty() && !(options_.silero.empty() && options_.whisper.empty())) {
      return fail(ErrorCode::Usage, "wanted recordings to hear");
    }
    const place::DeviceSettings settings{.cuda_driver = {},
                                         .visible_devices = {},
                                         .cuda_level = 0,
                                         .image_folder = {},
                                         .threads = options_.threads};
    MYNAH_TRY(device_, place::open_device(options_.device, settings));
    MYNAH_TRY(worker_, place::WorkerLane::start({.program = options_.program,
                                                 .device = options_.device,
                                                 .settings = settings,
                                                 .faults = {}}));
    Json report;
    MYNAH_TRY(report["empty_call_ms"], empty_call());
    MYNAH_TRY_STATUS(detect());
    MYNAH_TRY_STATUS(hear());
    MYNAH_TRY_STATUS(speak());
    report["pairs"] = std::move(pairs_);
    return report;
  }

 private:
  Result<Json> empty_call() {
    constexpr int kCalls = 2000;
    std::vector<double> times;
    for (int i = 0; i < turns(kCalls); ++i) {
      Status asked;
      times.push_back(milliseconds_of([&] {
        const auto answer =
            worker_->ask(place::Ask::Report, {}, std::chrono::milliseconds(600'000));
        asked = answer ? Status{} : std::unexpected(answer.error());
      }));
      MYNAH_TRY_STATUS(asked);
    }
    return Json{{"median", median(times)}, {"p99", quantile(times, 0.99)}};
  }

  [[nodiscard]] int turns(int usual) const {
    return std::max(3, static_cast<int>(usual * options_.turns));
  }

  Status add(Pair pair) {
    pair.worker_pid = worker_->pid();
    fmt::print(stderr, "... {}\n", pair.name);
    MYNAH_TRY(Json measured, measure(pair));
    pairs_.push_back(std::move(measured));
    return {};
  }

  // A view of the device as PlacementState has one for each stage of this process.
  Backend& view() {
    views_.push_back(std::make_unique<WatchedBackend>(*device_.backend));
    return *views_.back();
  }

  [[nodiscard]] StageDevice where() const {
    return {.device = options_.device,
            .storage = place::fast_storage(Precision::Fast, options_.device)};
  }

  Status detect() {
    if (options_.silero.empty()) {
      return {};
    }
    const place::DetectorFile file{.path = options_.silero, .rate_hz = kRate_hz};
    MYNAH_TRY(const auto here, place::load_detector(file, view()));
    MYNAH_TRY(const auto there,
              place::open_remote_detector(worker_, file, {.device = options_.device, .storage = {}},
                                          no_limit()));
    std::vector<float> all;
    for (const auto& sound : sounds_) {
      all.insert(all.end(), sound.begin(), sound.end());
    }
    const double seconds = static_cast<double>(all.size()) / kRate_hz;
    const auto whole = [&all](const VoiceDetector& detector) -> Result<std::string> {
      const std::span<const float> recording = all;
      MYNAH_TRY(const auto found, detector.probabilities(std::span(&recording, 1)));
      return bytes_of(found);
    };
    MYNAH_TRY_STATUS(add({.name = fmt::format("vad: {:.0f} s as a whole", seconds),
                          .here = [&] { return whole(*here); },
                          .worker = [&] { return whole(*there); },
                          .turns = turns(60),
                          .worker_pid = 0}));
    const auto in_pieces = [&all](const VoiceDetector& detector,
                                  size_t piece) -> Result<std::string> {
      const auto session = detector.session();
      std::vector<float> found;
      for (size_t begin = 0; begin < all.size(); begin += piece) {
        MYNAH_TRY(const auto some, session->push(std::span(all).subspan(
                                       begin, std::min(piece, all.size() - begin))));
        found.insert(found.end(), some.begin(), some.end());
      }
      return bytes_of(found);
    };
    for (const size_t piece_s : {1, 30}) {
      MYNAH_TRY_STATUS(add({.name = fmt::format("vad: {:.0f} s, {} s at a time", seconds, piece_s),
                            .here = [&] { return in_pieces(*here, piece_s * kRate_hz); },
                            .worker = [&] { return in_pieces(*there, piece_s * kRate_hz); },
                            .turns = turns(60),
                            .worker_pid = 0}));
    }
    return add_live(*here, *there, all);
  }

  // One frame after the other, as a microphone brings them.
  Status add_live(const VoiceDetector& here, const VoiceDetector& there,
                  std::span<const float> sound) {
    struct Ear {
      std::unique_ptr<VoiceDetector::Session> session;
      size_t heard = 0;
    };

    std::array ears = {Ear{here.session()}, Ear{there.session()}};
    const auto listen = [&](Ear& ear) -> Result<std::string> {
      const size_t begin = ear.heard % (sound.size() - kLiveSamples);
      ear.heard += kLiveSamples;
      MYNAH_TRY(const auto found, ear.session->push(sound.subspan(begin, kLiveSamples)));
      return bytes_of(found);
    };
    return add({.name = "vad: live, a frame of 32 ms",
                .here = [&] { return listen(ears[0]); },
                .worker = [&] { return listen(ears[1]); },
                .turns = turns(500),
                .worker_pid = 0});
  }

  Status hear() {
    if (options_.whisper.empty()) {
      return {};
    }
    const place::WindowsFile file{.path = options_.whisper,
                                  .precision = Precision::Fast,
                                  .cache_folder = options_.cache_folder};
    const place::StageBackend backend{.backend = view(), .storage = where().storage};
    MYNAH_TRY(const auto opened, open_hearing(file.path));
    MYNAH_TRY(const auto here, place::load_windows(*opened, file, backend, backend));
    MYNAH_TRY(const auto there, place::open_remote_windows(worker_, file, opened->header(), where(),
                                                           where(), no_limit()));
    MYNAH_TRY(const auto decoder_here, here->decoder({}));
    MYNAH_TRY(const auto decoder_there, there->decoder({}));
    constexpr size_t kWindow = size_t{30} * kRate_hz;
    std::vector<WindowTask> tasks;
    for (const auto& sound : sounds_) {
      WindowTask task;
      task.samples = std::span(sound).first(std::min(sound.size(), kWindow));
      tasks.push_back(std::move(task));
    }
    const auto decode = [](WindowDecoder& decoder,
                           std::span<const WindowTask> some) -> Result<std::string> {
      MYNAH_TRY(const auto heard, decoder.decode(some, {}));
      return bytes_of(heard);
    };
    MYNAH_TRY_STATUS(add({.name = fmt::format("stt: {} windows together, {:.0f} s", tasks.size(),
                                              seconds_of(sounds_)),
                          .here = [&] { return decode(*decoder_here, tasks); },
                          .worker = [&] { return decode(*decoder_there, tasks); },
                          .turns = turns(20),
                          .worker_pid = 0}));
    const std::span one(tasks.data(), 1);
    return add({.name = fmt::format("stt: a window of {:.1f} s",
                                    static_cast<double>(one[0].samples.size()) / kRate_hz),
                .here = [&] { return decode(*decoder_here, one); },
                .worker = [&] { return decode(*decoder_there, one); },
                .turns = turns(80),
                .worker_pid = 0});
  }

  Status speak() {
    if (options_.hibari.empty()) {
      return {};
    }
    const place::VoiceModelFile file{.family = "hibari",
                                     .path = options_.hibari,
                                     .config = {},
                                     .voices = {},
                                     .name = "hibari",
                                     .precision = Precision::Fast,
                                     .cache_folder = options_.cache_folder};
    const place::StageBackend backend{.backend = view(), .storage = where().storage};
    MYNAH_TRY(const auto here, place::load_voice(file, backend, backend));
    MYNAH_TRY(const auto there,
              place::open_remote_voice(worker_, file, where(), where(), no_limit()));
    const std::vector<PhonemeWord> words = sentence();
    const auto say = [&words](const VoiceModel& voice) -> Result<std::string> {
      MYNAH_TRY(const ClauseSound sound, voice.speak(words, {}));
      return bytes_of(sound);
    };
    MYNAH_TRY(const ClauseSound sound, here->speak(words, {}));
    return add({.name = fmt::format("tts: a clause of {:.1f} s",
                                    static_cast<double>(sound.samples.size()) / here->rate_hz()),
                .here = [&] { return say(*here); },
                .worker = [&] { return say(*there); },
                .turns = turns(200),
                .worker_pid = 0});
  }

  const BoundaryOptions& options_;
  std::vector<std::vector<float>> sounds_;
  place::OpenedDevice device_;
  std::vector<std::unique_ptr<WatchedBackend>> views_;
  std::shared_ptr<place::WorkerLane> worker_;
  Json pairs_ = Json::array();
};

}  // namespace

Result<Json> bench_boundary(const BoundaryOptions& options) try {
  return Boundary(options).run();
} catch (const DeviceError& error) {
  return std::unexpected(error.error());
}

}  // namespace mynah::bench
