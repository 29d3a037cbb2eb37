// mynah_bench_speak: Kokoro on the CPU, stage by stage, over a file of sentences. One JSON object
// on stdout: seconds of each stage for a second of sound, medians of several rounds.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backend/cpu/cpu_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "formats/open.h"
#include "formats/pytorch.h"
#include "models/kokoro/checkpoint.h"
#include "models/kokoro/model.h"

namespace mynah::bench {
namespace {

constexpr const char* kUsage =
    "usage: mynah_bench_speak --model KOKORO --voice VOICE.pt --sentences FILE.json\n"
    "                         [--threads N] [--storage TYPE] [--rounds N] [--samples FILE]\n"
    "The sentences' file is a list of objects with \"ids\", phonemes as Kokoro numbers them\n"
    "(tests/models/kokoro/durations.json). --storage f32 computes exactly, others fast. --samples\n"
    "writes what was spoken, f32, one sentence after the other.\n";

struct Options {
  int threads = 2;
  int rounds = 3;
  DType storage = DType::I8;
  std::string model;
  std::string voice;
  std::string sentences;
  std::string samples;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--rounds") {
      options.rounds = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--storage" && parse_dtype(value)) {
      options.storage = *parse_dtype(value);
    } else if (words[i] == "--model") {
      options.model = value;
    } else if (words[i] == "--voice") {
      options.voice = value;
    } else if (words[i] == "--sentences") {
      options.sentences = value;
    } else if (words[i] == "--samples") {
      options.samples = value;
    } else {
      return std::nullopt;
    }
  }
  const bool whole = !options.model.empty() && !options.voice.empty() && !options.sentences.empty();
  return words.size() % 2 == 0 && whole ? std::optional(options) : std::nullopt;
}

Result<std::vector<float>> read_voice(const std::string& path) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const TensorFile pack, read_pytorch(file));
  const StoredTensor& styles = pack.tensors.front();
  std::vector<float> values(styles.bytes.size() / sizeof(float));
  std::memcpy(values.data(), styles.bytes.data(), styles.bytes.size());
  return values;
}

Result<kokoro::Kokoro> load(const Options& options, Backend& backend) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(options.model));
  MYNAH_TRY(auto stored, kokoro::read_checkpoint(file));
  const Precision precision = options.storage == DType::F32 ? Precision::Exact : Precision::Fast;
  return kokoro::Kokoro::load(Weights(std::move(stored.tensors), stored.owner, backend,
                                      {.storage = options.storage, .precision = precision}));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The most memory that this process held since it began, or since forget_peak().
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") {
  }
  double kilobytes = 0.0;
  status >> kilobytes;
  return kilobytes / 1024;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<std::string> bench(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  MYNAH_TRY(const std::vector<float> voice, read_voice(options.voice));
  MYNAH_TRY(const kokoro::Kokoro model, load(options, *backend));
  backend->release_idle_memory();
  const double loading = peak_megabytes();
  forget_peak();
  std::ifstream in(options.sentences);
  const auto rows = nlohmann::json::parse(in, nullptr, false);
  if (!rows.is_array() || rows.empty()) {
    return fail(ErrorCode::InvalidInput,
                options.sentences + ": wanted a list of sentences, found none");
  }
  std::map<std::string, std::vector<double>> stages;
  std::vector<double> whole;
  std::vector<double> busy;
  std::vector<float> samples;
  for (int round = 0; round < options.rounds; ++round) {
    samples.clear();
    std::map<std::string, double> sums;
    const double busy_before = processor_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& row : rows) {
      const auto ids = row["ids"].get<std::vector<int32_t>>();
      const auto style = std::span<const float>(voice).subspan(
          (ids.size() - 1) * 2 * kokoro::kStyle, 2 * kokoro::kStyle);
      const kokoro::Speech speech = model.speak(ids, style, 1.0F);
      samples.insert(samples.end(), speech.samples.begin(), speech.samples.end());
      for (const kokoro::StageTime& time : speech.stages) {
        sums[std::string(time.stage)] += time.seconds;
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double seconds = static_cast<double>(samples.size()) / kokoro::kRate;
    whole.push_back(took.count() / seconds);
    busy.push_back((processor_seconds() - busy_before) / seconds);
    for (const auto& [stage, sum] : sums) {
      stages[stage].push_back(sum / seconds);
    }
  }
  if (!options.samples.empty()) {
    std::ofstream out(options.samples, std::ios::binary);
    out.write(reinterpret_cast<const char*>(samples.data()),
              static_cast<std::streamsize>(samples.size() * sizeof(float)));
  }
  nlohmann::ordered_json report;
  report["threads"] = options.threads;
  report["storage"] = std::string(name(options.storage));
  report["sound_s"] = static_cast<double>(samples.size()) / kokoro::kRate;
  report["real_time_factor"] = median(whole);
  report["processor_factor"] = median(busy);
  for (const auto& [stage, values] : stages) {
    report["stages"][stage] = median(values);
  }
  const double speaking = peak_megabytes();
  report["speaking_mb"] = speaking;
  report["peak_mb"] = std::max(loading, speaking);
  return report.dump(2);
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  const auto options = mynah::bench::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  const auto report = mynah::bench::bench(*options);
  if (!report) {
    fmt::print(stderr, "mynah_bench_speak: {}\n", report.error().message);
    return 1;
  }
  fmt::print("{}\n", *report);
  return 0;
}
