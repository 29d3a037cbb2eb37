// mynah_bench_echo: conversations of tools/echo_corpus.py through the echo canceller, one JSON
// object a conversation on stdout.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "judge.h"
#include "program.h"
#ifdef MYNAH_BENCH_WEBRTC
#include "webrtc_filter.h"
#endif

namespace mynah::bench {
namespace {

constexpr const char* kUsage =
    "usage: mynah_bench_echo --filter speex|webrtc [--silero MODEL] [--stops 1] [--echo 0]\n"
    "                        [--folder F] [--trace FILE] [--set NAME=VALUE ...]\n"
    "Reads conversations, a line of JSON each, from standard input.\n";

struct Options {
  JudgeOptions judge;
  std::string silero{};
};

bool set(NearVoiceOptions& options, const std::string& wish) {
  const size_t equals = wish.find('=');
  if (equals == std::string::npos) {
    return false;
  }
  const std::string name = wish.substr(0, equals);
  const double value = std::atof(wish.c_str() + equals + 1);
  if (name == "threshold") {
    options.threshold = static_cast<float>(value);
  } else if (name == "threshold_beside") {
    options.threshold_beside = static_cast<float>(value);
  } else if (name == "excess_db") {
    options.excess_db = value;
  } else if (name == "sure_threshold") {
    options.sure_threshold = static_cast<float>(value);
  } else if (name == "sure_excess_db") {
    options.sure_excess_db = value;
  } else if (name == "lasts_ms") {
    options.lasts_ms = value;
  } else if (name == "lasts_beside_ms") {
    options.lasts_beside_ms = value;
  } else {
    return false;
  }
  return true;
}

// Empty where there is none of that name.
echo::MakeEchoFilter filter_of(const std::string& name) {
  if (name == "speex") {
    return echo::make_speex_filter;
  }
#ifdef MYNAH_BENCH_WEBRTC
  if (name == "webrtc") {
    return make_webrtc_filter;
  }
#endif
  return {};
}

std::optional<Options> parse(std::span<const std::string> words) {
  Options options;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--filter") {
      options.judge.make_filter = filter_of(value);
    } else if (words[i] == "--silero") {
      options.silero = value;
    } else if (words[i] == "--stops") {
      options.judge.stops = value != "0";
    } else if (words[i] == "--echo") {
      options.judge.echo = value != "0";
    } else if (words[i] == "--folder") {
      options.judge.folder = value;
    } else if (words[i] == "--trace") {
      options.judge.trace = value;
    } else if (words[i] != "--set" || !set(options.judge.near_voice, value)) {
      return std::nullopt;
    }
  }
  return words.size() % 2 == 1 || !options.judge.make_filter ? std::nullopt
                                                             : std::optional(options);
}

Status run(const Options& options) {
  ThreadPool pool(1);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  std::shared_ptr<const VoiceDetector> voice = builtin_voice_detector();
  if (!options.silero.empty()) {
    MYNAH_TRY(voice, load_silero(options.silero, 16000, *backend));
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    MYNAH_TRY(const auto report, judge(nlohmann::json::parse(line), *voice, options.judge));
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
