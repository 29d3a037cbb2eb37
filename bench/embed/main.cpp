// mynah_bench_embed: how fast texts become vectors on the processor, for bench/embed.py, which sets
// it beside ONNX Runtime.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "chat/embedder.h"

namespace mynah::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  std::string texts;    // a file, a text a line
  std::string vectors;  // written there as f32; "": nowhere
  std::string cache;
  int threads = 2;
  int rounds = 1;
  Precision precision = Precision::Fast;
};

constexpr const char* kUsage =
    "usage: mynah_bench_embed MODEL TEXTS [--threads N] [--rounds N] [--exact] [--vectors FILE]\n"
    "                         [--cache FOLDER]\n"
    "Makes a vector of each line of TEXTS, again and again: a line of JSON a round.\n";

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool valued = i + 1 < words.size();
    if (words[i] == "--threads" && valued) {
      options.threads = std::max(1, std::atoi(words[++i].c_str()));
    } else if (words[i] == "--rounds" && valued) {
      options.rounds = std::max(1, std::atoi(words[++i].c_str()));
    } else if (words[i] == "--vectors" && valued) {
      options.vectors = words[++i];
    } else if (words[i] == "--cache" && valued) {
      options.cache = words[++i];
    } else if (words[i] == "--exact") {
      options.precision = Precision::Exact;
    } else if (words[i].starts_with("--")) {
      return std::nullopt;
    } else {
      (options.model.empty() ? options.model : options.texts) = words[i];
    }
  }
  return options.texts.empty() ? std::nullopt : std::optional(options);
}

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// The most memory that this program had; getrusage() also counts what the one had that started it.
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1e3;
    }
  }
  return 0;
}

Status run(const Options& options) {
  std::vector<std::string> texts;
  std::ifstream file(options.texts);
  for (std::string line; std::getline(file, line);) {
    texts.push_back(line);
  }
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  const auto begun = Clock::now();
  MYNAH_TRY(const auto opened, open_embedding_file(options.model));
  MYNAH_TRY(const auto model, load_embedding_model(*opened,
                                                   {.storage = std::nullopt,
                                                    .precision = options.precision,
                                                    .cache_folder = options.cache},
                                                   *backend));
  MYNAH_TRY(const auto embedder, Embedder::open(*opened, model));
  const double load_ms = 1e3 * seconds_since(begun);
  for (int round = 0; round < options.rounds; ++round) {
    const auto from = Clock::now();
    MYNAH_TRY(const std::vector<Embedding> made, embedder->embed(texts, {}, {}));
    const double seconds = seconds_since(from);
    int64_t tokens = 0;
    for (const Embedding& one : made) {
      tokens += one.tokens;
    }
    const nlohmann::ordered_json found = {
        {"seconds", seconds}, {"texts", made.size()}, {"tokens", tokens},
        {"load_ms", load_ms}, {"peak_mb", peak_mb()}, {"processor", backend->description()}};
    fmt::print("{}\n", found.dump());
    std::fflush(stdout);
    if (round == 0 && !options.vectors.empty()) {
      std::ofstream out(options.vectors, std::ios::binary);
      for (const Embedding& one : made) {
        out.write(reinterpret_cast<const char*>(one.vector.data()),
                  static_cast<std::streamsize>(one.vector.size() * sizeof(float)));
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  const auto options = mynah::bench::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  const mynah::Status done = mynah::bench::run(*options);
  if (!done) {
    fmt::print(stderr, "mynah_bench_embed: {}\n", done.error().message);
  }
  return done ? 0 : 1;
}
