// mynah_bench_phonemes: how long English's files take to pack, and the tables of that to load, what
// they hold in memory, how many words a second become phonemes, how long the network thinks about
// an unknown one. Both accents, on the 2,000 sentences of the tests and the files in
// $MYNAH_WEIGHTS/phonemes (.cache/weights where that is not set). Each phonemizer is loaded in a
// process of its own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "models/unknown_words/learned_words.h"
#include "speech/packed_tables.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {
namespace {

constexpr int kRounds = 7;

// Keeps which words were asked for and says nothing.
class Asked : public UnknownWords {
 public:
  [[nodiscard]] std::string pronounce(std::string_view word) const override {
    words.emplace_back(word);
    return {};
  }

  mutable std::vector<std::string> words;
};

std::vector<std::string> sentences() {
  std::ifstream file(std::string(MYNAH_SOURCE_DIR) + "/tests/text/data/english_sentences.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("# ")) {
      lines.push_back(line);
    }
  }
  return lines;
}

// Of the clock on the wall: files are loaded by two threads.
template <class F>
double milliseconds(F work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

// The fastest of several rounds: what others do on the machine only makes them slower.
template <class F>
double fastest(F work) {
  double least = milliseconds(work);
  for (int i = 1; i < kRounds; ++i) {
    least = std::min(least, milliseconds(work));
  }
  return least;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Packs the files into tables of the cache.
int pack(const std::string& folder, bool british, const std::string& cache) {
  const EnglishFiles files = english_files_in(folder, british);
  bool good = false;
  const double made = milliseconds([&] {
    const auto phonemizer =
        english_phonemizer(files, british, nullptr, {.tables = packed_tables(cache)});
    good = phonemizer.has_value();
  });
  fmt::print("{}: packed in {:.0f} ms\n", british ? "British" : "American", made);
  return good ? 0 : 1;
}

int measure(const std::string& folder, bool british, const std::string& cache) {
  const EnglishFiles files = english_files_in(folder, british);
  const auto asked = std::make_shared<Asked>();
  const double before = peak_mib();
  const EnglishOptions options{.tables = packed_tables(cache)};
  auto loaded = english_phonemizer(files, british, asked, options);
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().message);
    return 1;
  }
  const double memory = peak_mib() - before;
  const std::unique_ptr<Phonemizer> phonemizer = std::move(*loaded);
  const std::vector<std::string> lines = sentences();
  size_t words = 0;
  for (const std::string& line : lines) {
    words += phonemizer->phonemes(line)->size();
  }
  const std::vector<std::string> unknown = asked->words;
  const double load = fastest(
      [&] { static_cast<void>(english_phonemizer(files, british, nullptr, options).has_value()); });
  const double read = fastest([&] {
    for (const std::string& line : lines) {
      static_cast<void>(phonemizer->phonemes(line));
    }
  });
  ThreadPool pool(1);
  const std::unique_ptr<Backend> cpu = *make_cpu_backend(pool);
  const std::string network = folder + (british ? "/oov_gb" : "/oov");
  const auto learned =
      unknown_words::load_learned_words(network + ".onnx", network + ".json", *cpu);
  if (!learned) {
    fmt::print(stderr, "{}\n", learned.error().message);
    return 1;
  }
  const double thought = fastest([&] {
    for (const std::string& word : unknown) {
      static_cast<void>((*learned)->pronounce(word));
    }
  });
  fmt::print(
      "{}: loaded in {:.1f} ms, at most {:.0f} MiB; {} words of {} sentences, {:.0f} thousand a "
      "second; {} unknown ones, {:.2f} ms each\n",
      british ? "British" : "American", load, memory, words, lines.size(),
      static_cast<double>(words) / read, unknown.size(),
      thought / static_cast<double>(unknown.size()));
  return 0;
}

}  // namespace
}  // namespace mynah

int main() {
  const char* const weights = std::getenv("MYNAH_WEIGHTS");
  const std::string folder =
      (weights != nullptr ? weights : std::string(MYNAH_SOURCE_DIR) + "/.cache/weights") +
      std::string("/phonemes");
  std::string cache = (std::filesystem::temp_directory_path() / "mynah-bench-XXXXXX").string();
  if (mkdtemp(cache.data()) == nullptr) {
    fmt::print(stderr, "cannot make a folder like {}\n", cache);
    return 1;
  }
  bool good = true;
  for (const bool british : {false, true}) {
    for (const auto part : {mynah::pack, mynah::measure}) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        std::exit(part(folder, british, cache));
      }
      int status = 0;
      waitpid(child, &status, 0);
      good = good && status == 0;
    }
  }
  std::filesystem::remove_all(cache);
  return good ? 0 : 1;
}
