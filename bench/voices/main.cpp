// How fast the small voices speak on the processor, for bench/voices.py: seconds of computation for
// the sentences of a file, and the seconds of sound that came out.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backend/cpu/cpu_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "models/hibari/model.h"
#include "models/piper/model.h"

namespace mynah {
namespace {

struct Options {
  std::string family;     // piper, hibari
  std::string voice;      // .onnx
  std::string sentences;  // [{"ids": [...]}, ...]
  DType storage = DType::F32;
  int threads = 2;
  int rounds = 5;
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// How many samples a sentence has.
using Speak = std::function<Result<size_t>(const std::vector<int32_t>& ids)>;

Result<Speak> load(const Options& options, Backend& backend) {
  MYNAH_TRY(const auto file, MappedFile::open(options.voice));
  MYNAH_TRY(const OnnxModel graph, read_onnx_model(file));
  const WeightOptions weights{
      .storage = options.storage,
      .precision = options.storage == DType::F32 ? Precision::Exact : Precision::Fast};
  if (options.family == "hibari") {
    MYNAH_TRY(const hibari::OnnxWeights stored, hibari::read_onnx_weights(graph));
    MYNAH_TRY(const hibari::Hibari model, hibari::Hibari::load(stored, backend, weights));
    return [model](const std::vector<int32_t>& ids) -> Result<size_t> {
      MYNAH_TRY(const hibari::Speech speech, model.speak(ids, {}));
      return speech.samples.size();
    };
  }
  MYNAH_TRY(const piper::OnnxVoice stored, piper::read_onnx_voice(graph));
  MYNAH_TRY(const piper::Piper model, piper::Piper::load(stored, backend, weights));
  return [model](const std::vector<int32_t>& ids) -> Result<size_t> {
    MYNAH_TRY(const piper::Speech speech, model.speak(ids, {}));
    return speech.samples.size();
  };
}

Result<std::string> bench(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  MYNAH_TRY(const Speak speak, load(options, *backend));
  std::ifstream in(options.sentences);
  const auto rows = nlohmann::json::parse(in, nullptr, false);
  if (!rows.is_array() || rows.empty()) {
    return fail(ErrorCode::InvalidInput,
                options.sentences + ": wanted a list of sentences, found none");
  }
  std::vector<double> seconds;
  std::vector<double> busy;
  size_t samples = 0;
  for (int round = 0; round < options.rounds; ++round) {
    samples = 0;
    const double busy_before = processor_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& row : rows) {
      MYNAH_TRY(const size_t spoken, speak(row["ids"].get<std::vector<int32_t>>()));
      samples += spoken;
    }
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    busy.push_back(processor_seconds() - busy_before);
  }
  const auto median = [](std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  return fmt::format(R"({{"seconds": {:.4f}, "busy_seconds": {:.4f}, "samples": {}}})",
                     median(seconds), median(busy), samples);
}

}  // namespace
}  // namespace mynah

int main(int count, char** arguments) {
  using namespace mynah;
  if (count < 6) {
    std::cerr << "usage: mynah_bench_voices piper|hibari VOICE.onnx SENTENCES.json f32|bf16|i8 "
                 "THREADS [ROUNDS]\n";
    return 2;
  }
  Options options{.family = arguments[1], .voice = arguments[2], .sentences = arguments[3]};
  const std::string storage = arguments[4];
  options.storage = storage == "i8" ? DType::I8 : storage == "bf16" ? DType::BF16 : DType::F32;
  options.threads = std::max(1, std::atoi(arguments[5]));
  options.rounds = count > 6 ? std::max(1, std::atoi(arguments[6])) : options.rounds;
  const auto result = bench(options);
  std::cout << (result ? *result : result.error().message) << '\n';
  return result ? 0 : 1;
}
