// mynah_bench_turns: what Smart Turn says at moments of recordings, and how long it takes to; or
// when turns end where a detector and the whole policy listen.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "models/turn/model.h"
#include "program.h"
#include "speech/end_of_turn.h"
#include "speech/hearing.h"
#include "speech/turn_detector.h"
#include "speech/turn_level.h"

namespace mynah::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUsage =
    "usage: mynah_bench_turns [--threads N] [--exact 0|1] --model MODEL <LINES\n"
    "       mynah_bench_turns [--threads N] --listen EAGERNESS --silero VAD --model MODEL <LINES\n"
    "       mynah_bench_turns --falls 1 <LINES\n"
    "Each line is {\"sound\": FILE of f32 at 16 kHz, \"begin\": sample, \"looks\": [samples]}; "
    "for\n"
    "each {\"scores\": [...]} is printed, of the samples from begin up to each look; at the end\n"
    "{\"ms\": median processor time of a score}. With --listen a line is {\"sound\": FILE}, and\n"
    "{\"ends\": [{\"at\": s, \"why\": ...}]} is printed. With --falls a line has \"pauses\": "
    "[[from,\n"
    "to], ...] in place of the looks, and {\"falls\": [...]} is printed: TurnLevel::fall_db() at "
    "each.\n";

// Moments that are scored as one batch.
constexpr size_t kTogether = 4;

constexpr size_t kPiece = 512;  // a frame of the detector

struct Options {
  int threads = 2;
  bool exact = false;
  bool falls = false;
  std::string model;
  std::string silero;
  std::optional<Eagerness> listen;
};

std::vector<float> read_sound(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) {
    return {};
  }
  std::vector<float> sound((*file)->bytes().size() / sizeof(float));
  std::memcpy(sound.data(), (*file)->bytes().data(), sound.size() * sizeof(float));
  return sound;
}

std::string_view name(TurnEnd why) {
  switch (why) {
    case TurnEnd::Said:
      return "said";
    case TurnEnd::Silence:
      return "silence";
    case TurnEnd::AnotherVoice:
      return "another voice";
    case TurnEnd::Wordless:
      return "wordless";
    case TurnEnd::TooLong:
      return "too long";
  }
  return "";
}

// When turns of a recording end, heard as live sound is.
Result<Json> ends_in(std::span<const float> sound, const VoiceDetector& voice,
                     std::shared_ptr<const TurnScorer> scorer, Eagerness eagerness) {
  TurnDetector detector(voice, voice.for_recogniser({}), {});
  EndOfTurn turn(std::move(scorer), end_of_turn_rule(eagerness));
  Json ends = Json::array();
  for (int64_t heard = 0; !sound.empty();) {
    const auto piece = sound.first(std::min(sound.size(), kPiece));
    sound = sound.subspan(piece.size());
    heard += std::ssize(piece);
    MYNAH_TRY(const TurnDetector::Found found, detector.push(piece, {}));
    MYNAH_TRY(const auto end, turn.push(piece, found.events));
    if (end) {
      ends.push_back({{"at", static_cast<double>(heard) / kHearingRate_hz},
                      {"why", std::string(name(end->why))}});
    }
  }
  return ends;
}

Status listen(const Options& options, Backend& backend) {
  MYNAH_TRY(auto voice, load_silero(options.silero, kHearingRate_hz, backend));
  const auto detector = with_automatic_level(std::move(voice));
  MYNAH_TRY(const auto scorer, load_turn_scorer(options.model, {}, backend));
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<float> sound = read_sound(Json::parse(line).at("sound").get<std::string>());
    MYNAH_TRY(const Json ends, ends_in(sound, *detector, scorer, *options.listen));
    std::cout << Json{{"ends", ends}}.dump() << "\n" << std::flush;
  }
  return {};
}

Status score(const Options& options, Backend& backend) {
  WeightOptions weights{.storage = {}, .precision = Precision::Fast, .cache = nullptr};
  if (options.exact) {
    weights = {.storage = DType::F32, .precision = Precision::Exact, .cache = nullptr};
  }
  MYNAH_TRY(const auto model,
            turn::Model::open(options.model, {.backend = &backend, .options = weights}));
  // Of this process: others may want the processors meanwhile.
  std::vector<double> times_ms;
  const auto processor_ms = [] {
    return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  };
  for (std::string line; std::getline(std::cin, line);) {
    const Json item = Json::parse(line);
    const std::vector<float> sound = read_sound(item.at("sound").get<std::string>());
    const auto begin = item.at("begin").get<size_t>();
    std::vector<std::span<const float>> turns;
    for (const auto& look : item.at("looks")) {
      const size_t end = std::min(look.get<size_t>(), sound.size());
      turns.push_back(std::span(sound).subspan(std::min(begin, end), end - std::min(begin, end)));
    }
    Json scores = Json::array();
    for (size_t i = 0; i < turns.size(); i += kTogether) {
      const auto some = std::span(turns).subspan(i, std::min(kTogether, turns.size() - i));
      const double start_ms = processor_ms();
      for (const float score : model->score(some)) {
        scores.push_back(score);
      }
      times_ms.push_back((processor_ms() - start_ms) / static_cast<double>(some.size()));
    }
    std::cout << Json{{"scores", scores}}.dump() << "\n" << std::flush;
  }
  std::ranges::sort(times_ms);
  const double median = times_ms.empty() ? 0 : times_ms[times_ms.size() / 2];
  std::cout << Json{{"ms", median}}.dump() << "\n";
  return {};
}

Status falls() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json item = Json::parse(line);
    const std::vector<float> sound = read_sound(item.at("sound").get<std::string>());
    const auto part = [&sound](size_t from, size_t to) {
      const size_t begin = std::min(from, sound.size());
      return std::span(sound).subspan(begin, std::min(std::max(to, begin), sound.size()) - begin);
    };
    TurnLevel level;
    level.begin();
    auto at = item.at("begin").get<size_t>();
    Json falls = Json::array();
    for (const auto& pause : item.at("pauses")) {
      const auto from = pause.at(0).get<size_t>();
      level.push(part(at, from), true);
      at = pause.at(1).get<size_t>();
      const std::optional<double> fall = level.fall_db();
      falls.push_back(fall ? Json(*fall) : Json());
      level.push(part(from, at), false);
    }
    std::cout << Json{{"falls", falls}}.dump() << "\n" << std::flush;
  }
  return {};
}

std::optional<Options> parse(std::span<const std::string> words) {
  Options options;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--exact") {
      options.exact = value == "1";
    } else if (words[i] == "--falls") {
      options.falls = value == "1";
    } else if (words[i] == "--model") {
      options.model = value;
    } else if (words[i] == "--silero") {
      options.silero = value;
    } else if (words[i] != "--listen" || !(options.listen = parse_eagerness(value))) {
      return std::nullopt;
    }
  }
  const bool enough = options.falls || !options.model.empty();
  return words.size() % 2 == 1 || !enough ? std::nullopt : std::optional(options);
}

Status run(const Options& options) {
  if (options.falls) {
    return falls();
  }
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  return options.listen ? listen(options, *backend) : score(options, *backend);
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  return mynah::bench::run_program(argc, argv, mynah::bench::kUsage, &mynah::bench::parse,
                                   &mynah::bench::run);
}
