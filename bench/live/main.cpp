// mynah_bench_live: recordings played to a live session as fast as they were spoken; what it says,
// and when. One JSON object a recording on stdout.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "program.h"
#include "speech/window_model.h"
#include "work.h"

namespace mynah::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: mynah_bench_live [--threads N] [--silero MODEL] [--drafts 0|1] [--pace X] \n"
    "                        --whisper MODEL FILE...\n"
    "Plays each FILE X times as fast as it was spoken (1; 0: as fast as it is heard): what was\n"
    "said for good by when, what was committed.\n";

constexpr size_t kPiece = 1600;  // a tenth of a second, as the command sends it
constexpr double kRate_hz = 16000;

struct Options {
  int threads = 2;
  bool drafts = true;
  double pace = 1;
  std::string whisper;
  std::string silero;
  std::vector<std::string> files;
};

std::optional<Options> parse(std::span<const std::string> words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      options.files.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) {
      return std::nullopt;
    }
    const std::string& value = words[++i];
    if (words[i - 1] == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (words[i - 1] == "--drafts") {
      options.drafts = value != "0";
    } else if (words[i - 1] == "--pace") {
      options.pace = std::atof(value.c_str());
    } else if (words[i - 1] == "--whisper") {
      options.whisper = value;
    } else if (words[i - 1] == "--silero") {
      options.silero = value;
    } else {
      return std::nullopt;
    }
  }
  return options.whisper.empty() || options.files.empty() ? std::nullopt : std::optional(options);
}

// What a session said, in the order of time.
class Log {
 public:
  void take(const LiveText& live, double now_s) {
    committed_ += text_of(live.committed);
    const std::string said = committed_ + live.agreed;
    if (!said.starts_with(said_)) {
      ++taken_back_;
    }
    if (said != said_) {
      said_ = said;
      steps_.push_back({now_s, said, live.partial});
    }
  }

  [[nodiscard]] Json json() const {
    return {{"text", committed_}, {"taken_back", taken_back_}, {"steps", steps_}};
  }

 private:
  std::string committed_;
  std::string said_;
  int taken_back_ = 0;
  Json steps_ = Json::array();  // [seconds, said for good so far, partial]
};

Result<Json> play(const Recognizer& recognizer, const RecognizerOptions& options, double pace,
                  std::span<const float> samples) {
  MYNAH_TRY(const auto session, recognizer.session(options));
  Log log;
  const Clock::time_point begin = Clock::now();
  double spoken_s = 0;
  const auto now_s = [&] {
    return pace > 0 ? std::chrono::duration<double>(Clock::now() - begin).count() : spoken_s;
  };
  double longest_push_s = 0;
  for (size_t at = 0; at < samples.size(); at += kPiece) {
    const auto piece = samples.subspan(at, std::min(kPiece, samples.size() - at));
    spoken_s = static_cast<double>(at + piece.size()) / kRate_hz;
    if (pace > 0) {
      std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(spoken_s / pace)));
    }
    const double before_s = now_s();
    MYNAH_TRY(LiveText live, session->push(piece));
    if (pace == 0) {
      log.take(live, now_s());
      MYNAH_TRY(live, session->wait());
    }
    longest_push_s = std::max(longest_push_s, now_s() - before_s);
    log.take(live, now_s());
  }
  const double ended_s = now_s();
  MYNAH_TRY(const LiveText rest, session->flush());
  log.take(rest, now_s());
  Json report = log.json();
  report["seconds"] = static_cast<double>(samples.size()) / kRate_hz;
  report["last_ms"] = 1000 * (now_s() - ended_s);
  report["longest_push_ms"] = 1000 * longest_push_s;
  return report;
}

Status run(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  std::shared_ptr<const VoiceDetector> voice = builtin_voice_detector();
  if (!options.silero.empty()) {
    MYNAH_TRY(voice, load_silero(options.silero, static_cast<int>(kRate_hz), *backend));
  }
  MYNAH_TRY(const auto recognizer, load_recognizer(options.whisper, {}, *backend, voice));
  RecognizerOptions wanted;
  wanted.cutting.partial_text = options.drafts;
  for (const std::string& file : options.files) {
    MYNAH_TRY(const std::vector<float> samples, read_sound(file));
    MYNAH_TRY(Json report, play(*recognizer, wanted, options.pace, samples));
    report["file"] = file;
    fmt::print("{}\n", report.dump());
    static_cast<void>(std::fflush(stdout));
  }
  return {};
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  return mynah::bench::run_program(argc, argv, mynah::bench::kUsage, &mynah::bench::parse,
                                   &mynah::bench::run);
}
