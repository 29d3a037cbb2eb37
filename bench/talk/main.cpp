// mynah_bench_talk: recordings of somebody who asks and then speaks over the reply, which is always
// the same long text. One JSON object a recording on stdout: what was held, stopped and said, when.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audio/open.h"
#include "base/environment.h"
#include "cli/talk/file_talk.h"
#include "speech/hearing.h"
#include "talk/organs/local_organs.h"
#include "talk/turns/end_rule.h"

namespace mynah::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUsage =
    "usage: mynah_bench_talk [--threads N] --asr MODEL --vad MODEL --voice-model MODEL FILE...\n"
    "Converses with each FILE; MYNAH_HOME has the voice's other files.\n";

// Some 25 seconds.
constexpr std::string_view kLongReply =
    "The river begins high in the mountains, where the snow melts in the spring. From there it "
    "runs "
    "down through forests and meadows, past small towns with wooden houses. In the valley it "
    "becomes "
    "wide and slow, and boats carry grain and timber to the coast. People have lived beside it for "
    "thousands of years, and every autumn they still hold a market on its banks. At the end it "
    "meets "
    "the sea, in a delta full of birds.";

class LongMind final : public talk::Mind {
 public:
  Result<ChatReply> reply(const ChatRequest& /*request*/, ChatObserver& observer,
                          const std::stop_token& /*stop*/) override {
    ChatDelta delta;
    delta.said.content = kLongReply;
    MYNAH_TRY_STATUS(observer.on_delta(delta));
    return ChatReply{};
  }

  [[nodiscard]] talk::OrganFacts facts() const override {
    return {.model = "long", .place = "cpu"};
  }
};

// Keeps when what is played is silent.
class Loudness final : public cli::SoundOutput {
 public:
  explicit Loudness(int rate_hz) : window_(static_cast<size_t>(rate_hz) / 50) {}

  Status write(std::span<const float> samples) override {
    for (const float sample : samples) {
      peak_ = std::max(peak_, std::abs(sample));
      if (++count_ == window_) {
        peaks_.push_back(std::round(peak_ * 1000) / 1000);
        peak_ = 0;
        count_ = 0;
      }
    }
    return {};
  }

  Status finish() override { return {}; }

  Result<std::optional<std::string>> keep_part() override { return std::nullopt; }

  [[nodiscard]] std::string name() const override { return "peaks"; }

  // Of each 20 ms.
  [[nodiscard]] const std::vector<float>& peaks() const { return peaks_; }

 private:
  size_t window_;
  size_t count_ = 0;
  float peak_ = 0;
  std::vector<float> peaks_;
};

struct Options {
  int threads = 2;
  std::string asr;
  std::string vad;
  std::string voice_model;
  std::vector<std::string> files;
};

Result<Options> parse(std::span<const std::string> words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      options.files.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) {
      return fail(ErrorCode::Usage, kUsage);
    }
    const std::string& name = words[i];
    const std::string& value = words[++i];
    if (name == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--asr") {
      options.asr = value;
    } else if (name == "--vad") {
      options.vad = value;
    } else if (name == "--voice-model") {
      options.voice_model = value;
    } else {
      return fail(ErrorCode::Usage, kUsage);
    }
  }
  return options;
}

std::string_view name_of(talk::TalkEvent::Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"voice", "draft", "heard",   "replies",
                                                      "said",  "held",  "went_on", "fault"};
  return kNames[static_cast<size_t>(kind)];
}

Result<Json> converse(const std::string& file, std::shared_ptr<const VoiceDetector> voice,
                      talk::Ear& ear, talk::Mouth& mouth) {
  LongMind mind;
  talk::SilenceRule end(0.7);
  talk::ThreadWorkers workers;
  talk::Conversation conversation({.voice = std::move(voice),
                                   .ear = ear,
                                   .mind = mind,
                                   .mouth = mouth,
                                   .end = end,
                                   .workers = workers},
                                  {});
  MYNAH_TRY(const auto source, open_audio(file, {}));
  Loudness loudness(mouth.rate_hz());
  Json events = Json::array();
  cli::FileTalk talk{.conversation = conversation,
                     .source = *source,
                     .output = &loudness,
                     .tell = [&](const talk::TalkEvent& event) {
                       events.push_back({{"event", name_of(event.kind)},
                                         {"at_s", seconds_of(event.at)},
                                         {"text", event.text},
                                         {"interrupted", event.interrupted}});
                     }};
  MYNAH_TRY_STATUS(talk.run({}));
  return Json{{"file", file}, {"events", std::move(events)}, {"peaks", loudness.peaks()}};
}

Status run(std::span<const std::string> words) {
  MYNAH_TRY(const Options options, parse(words));
  engine::PlacementWish placement;
  placement.device = "cpu";
  placement.threads = options.threads;
  placement.quiet = true;
  engine::Surroundings surroundings;
  surroundings.environment = Environment::of_process();
  using Warm = engine::Engine::Warm;
  MYNAH_TRY(const auto engine, engine::Engine::create(placement, surroundings));
  engine::RecognizerWish hear;
  hear.model = options.asr;
  hear.vad_model = options.vad;
  MYNAH_TRY(auto recognizer, engine->recognizer(hear, Warm::Yes));
  MYNAH_TRY(const auto ear, talk::local_ear(std::move(recognizer)));
  engine::DetectorWish detect;
  detect.model = options.vad;
  detect.placement.device = "cpu";
  detect.placement.threads = 1;
  MYNAH_TRY(const engine::OpenedDetector detector, engine::open_detector(detect, surroundings));
  engine::SynthesizerWish speak;
  speak.model = options.voice_model;
  MYNAH_TRY(const auto model, engine::speaking_model(speak, surroundings.environment));
  MYNAH_TRY(auto synthesizer, engine->synthesizer(speak, model, Warm::Yes));
  MYNAH_TRY(const auto mouth, talk::local_mouth(std::move(synthesizer)));
  for (const std::string& file : options.files) {
    MYNAH_TRY(const Json talked, converse(file, detector.detector, *ear, *mouth));
    fmt::print("{}\n", talked.dump());
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const mynah::Status done = mynah::bench::run(words);
  if (!done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return mynah::exit_code(done.error().code);
  }
  return 0;
}
