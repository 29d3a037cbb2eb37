// mynah_bench_think: how fast a language model reads and writes on the processor, a line of JSON a
// round, for bench/think.py, which sets it beside other engines.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "chat/language_model.h"
#include "constraint.h"
#include "turns.h"

namespace mynah::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  std::string cache;
  int threads = 2;
  int64_t prompt = 512;
  int64_t tokens = 64;
  int sequences = 8;
  int rounds = 1;
  std::string what = "speed";  // or turns, guesses, constraint, memory
};

constexpr int64_t kContext = 4096;

constexpr const char* kUsage =
    "usage: mynah_bench_think MODEL [--threads N] [--prompt N] [--tokens N] [--sequences N]\n"
    "                         [--rounds N] [--cache FOLDER]\n"
    "                         [--what speed|turns|guesses|constraint|memory]\n"
    "Reads a prompt, writes tokens behind it, alone and in several texts side by side, and reads "
    "a\n"
    "buffer of the file's size: a line of JSON a round. Or a line of what turns of a conversation\n"
    "wait for, of what guesses give, of what keeping to a form costs, or of the memory that a text "
    "of\n"
    "4096 tokens takes.\n";

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto number = [&](auto& target) {
      target = std::max<std::remove_reference_t<decltype(target)>>(
          1,
          static_cast<std::remove_reference_t<decltype(target)>>(std::atoll(words[++i].c_str())));
    };
    const bool valued = i + 1 < words.size();
    if (words[i] == "--threads" && valued) {
      number(options.threads);
    } else if (words[i] == "--prompt" && valued) {
      number(options.prompt);
    } else if (words[i] == "--tokens" && valued) {
      number(options.tokens);
    } else if (words[i] == "--sequences" && valued) {
      number(options.sequences);
    } else if (words[i] == "--rounds" && valued) {
      number(options.rounds);
    } else if (words[i] == "--cache" && valued) {
      options.cache = words[++i];
    } else if (words[i] == "--what" && valued) {
      options.what = words[++i];
    } else if (options.model.empty() && !words[i].starts_with("--")) {
      options.model = words[i];
    } else {
      return std::nullopt;
    }
  }
  return options.model.empty() ? std::nullopt : std::optional(options);
}

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// Sums of some numbers, as many chains of additions as keep a core's loads busy, memory asked for
// as far ahead as products ask for their weights.
uint64_t sum_of(std::span<const uint64_t> numbers) {
  constexpr size_t kLine = 64 / sizeof(uint64_t);
  constexpr size_t kAhead = 8192 / sizeof(uint64_t);
  std::array<uint64_t, 4 * kLine> sums{};
  for (size_t i = 0; i + sums.size() <= numbers.size(); i += sums.size()) {
    for (size_t line = 0; line < sums.size(); line += kLine) {
      __builtin_prefetch(numbers.data() + i + kAhead + line);
    }
    for (size_t j = 0; j < sums.size(); ++j) {
      sums[j] += numbers[i + j];
    }
  }
  return std::accumulate(sums.begin(), sums.end(), uint64_t{0});
}

// The most that all threads of the pool together read in a second of `bytes` of memory in huge
// pages: what no product of a vector with as many bytes of weights is faster than.
double read_bandwidth(Backend& backend, ThreadPool& pool, size_t bytes) {
  const BufferRef buffer = backend.allocate(bytes);
  const std::span<uint64_t> numbers(reinterpret_cast<uint64_t*>(buffer.get()->data()),
                                    bytes / sizeof(uint64_t));
  std::ranges::fill(numbers, 1);
  const int64_t threads = pool.size();
  // Parts that are taken by turns: a thread that lost its core is made up for.
  const int64_t parts = 64 * threads;
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    std::atomic<uint64_t> sum = 0;
    const auto begun = Clock::now();
    pool.parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      const auto from = static_cast<size_t>(begin) * numbers.size() / static_cast<size_t>(parts);
      const auto to = static_cast<size_t>(end) * numbers.size() / static_cast<size_t>(parts);
      sum += sum_of(numbers.subspan(from, to - from));
    });
    const double rate = static_cast<double>(bytes) / seconds_since(begun);
    best = sum > 0 ? std::max(best, rate) : best;
  }
  return best;
}

// Texts that grow in a session, each from its own prompt.
class Texts {
 public:
  Texts(const LanguageModel& model, int count) : session_(model.session()) {
    for (int i = 0; i < count; ++i) {
      steps_.push_back({.text = static_cast<uint64_t>(i + 1),
                        .begin = 0,
                        .tokens = {},
                        .wishes = {TokenWish{}}});
    }
  }

  // Reads as many tokens into each, and chooses what follows.
  Status read(int64_t count, int64_t vocabulary) {
    for (size_t t = 0; t < steps_.size(); ++t) {
      steps_[t].tokens.clear();
      for (int64_t i = 0; i < count; ++i) {
        steps_[t].tokens.push_back(
            static_cast<int32_t>((i * 7919 + 17 * static_cast<int64_t>(t) + 5) % vocabulary));
      }
    }
    return step();
  }

  Status write(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      MYNAH_TRY_STATUS(step());
    }
    return {};
  }

  [[nodiscard]] const std::vector<int32_t>& written(size_t text) const { return written_[text]; }

 private:
  Status step() {
    MYNAH_TRY(const auto chosen, session_->step({.forks = {}, .forgotten = {}, .steps = steps_}));
    written_.resize(steps_.size());
    for (size_t t = 0; t < steps_.size(); ++t) {
      steps_[t].begin += std::ssize(steps_[t].tokens);
      steps_[t].tokens = {chosen[t].token};
      written_[t].push_back(chosen[t].token);
    }
    return {};
  }

  std::unique_ptr<LanguageModel::Session> session_;
  std::vector<TextStep> steps_;
  std::vector<std::vector<int32_t>> written_;
};

Result<nlohmann::ordered_json> run_round(const LanguageModel& model, const Options& options) {
  const int64_t vocabulary = model.facts().vocabulary;
  Texts one(model, 1);
  auto begun = Clock::now();
  MYNAH_TRY_STATUS(one.read(options.prompt, vocabulary));
  const double prompt_s = seconds_since(begun);

  // As llama-bench has it: what is written follows one token.
  Texts alone(model, 1);
  MYNAH_TRY_STATUS(alone.read(1, vocabulary));
  begun = Clock::now();
  MYNAH_TRY_STATUS(alone.write(options.tokens));
  const double alone_s = seconds_since(begun);

  Texts beside(model, options.sequences);
  MYNAH_TRY_STATUS(beside.read(1, vocabulary));
  begun = Clock::now();
  MYNAH_TRY_STATUS(beside.write(options.tokens));
  const double beside_s = seconds_since(begun);
  if (beside.written(0) != alone.written(0)) {
    return fail(ErrorCode::InvalidInput, "a text is another one in company");
  }
  return nlohmann::ordered_json{
      {"prompt_per_s", static_cast<double>(options.prompt) / prompt_s},
      {"alone_per_s", static_cast<double>(options.tokens) / alone_s},
      {"beside_per_s", static_cast<double>(options.tokens * options.sequences) / beside_s}};
}

double peak_mb() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1e3;
}

Result<nlohmann::ordered_json> run_once(const std::shared_ptr<const LanguageModel>& model,
                                        const Options& options) {
  if (options.what == "turns") {
    return measure_turns(model, options.rounds);
  }
  if (options.what == "guesses") {
    return measure_guesses(options.model, model, options.rounds);
  }
  if (options.what == "constraint") {
    return measure_constraint(options.model, model, options.rounds);
  }
  if (options.what != "memory") {
    return fail(ErrorCode::Usage, "wanted speed, turns, guesses, constraint or memory");
  }
  // In pieces, as a queue reads a prompt.
  Texts one(*model, 1);
  constexpr int64_t kPiece = 512;
  for (int64_t read = 0; read + kPiece < kContext; read += kPiece) {
    MYNAH_TRY_STATUS(one.read(kPiece, model->facts().vocabulary));
  }
  MYNAH_TRY_STATUS(one.write(8));
  return nlohmann::ordered_json{{"peak_mb", peak_mb()}};
}

Status run(const Options& options) {
  ThreadPool pool(options.threads);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  const auto begun = Clock::now();
  MYNAH_TRY(const auto model, load_language_model(options.model,
                                                  {.storage = std::nullopt,
                                                   .precision = Precision::Fast,
                                                   .cache_folder = options.cache,
                                                   .context = kContext},
                                                  *backend));
  const double load_ms = 1e3 * seconds_since(begun);
  if (options.what != "speed") {
    MYNAH_TRY(const auto found, run_once(model, options));
    fmt::print("{}\n", found.dump());
    return {};
  }
  const size_t bytes = std::filesystem::file_size(options.model);
  for (int round = 0; round < options.rounds; ++round) {
    MYNAH_TRY(nlohmann::ordered_json found, run_round(*model, options));
    found["load_ms"] = load_ms;
    found["peak_mb"] = peak_mb();
    found["file_bytes"] = bytes;
    found["processor"] = backend->description();
    found["read_bytes_per_s"] = read_bandwidth(*backend, pool, bytes);
    fmt::print("{}\n", found.dump());
    std::fflush(stdout);
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
    fmt::print(stderr, "mynah_bench_think: {}\n", done.error().message);
  }
  return done ? 0 : 1;
}
