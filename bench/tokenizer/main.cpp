// mynah_bench_tokenizer [FILE.gguf ...]: how long a vocabulary takes to load, what it holds in
// memory, and how many megabytes a second of prose and of code become tokens, on one thread. The
// texts are the repository's own documents and sources; without files, the vocabularies are those
// of $MYNAH_SHARED/tokenizers (../shared where that is not set). A text that does not come back
// from its tokens is told and not timed, but for WordPiece's, which never does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include "formats/open.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {
namespace {

constexpr int kRounds = 7;

// The thread's own time: others at work on the machine do not count.
double now_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

template <class F>
double fastest_ms(F work) {
  double least = 1e300;
  for (int i = 0; i < kRounds; ++i) {
    const double begin = now_ms();
    work();
    least = std::min(least, now_ms() - begin);
  }
  return least;
}

// What was asked of malloc and not given back: in its heaps, and in maps of their own.
size_t held_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// All files below a folder of the repository that end so, in the order of their names.
std::string texts_of(const std::string& folder, std::string_view ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(MYNAH_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == ending) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::ostringstream text;
  for (const auto& path : paths) {
    text << std::ifstream(path, std::ios::binary).rdbuf();
  }
  return text.str();
}

// "MB/s (tokens)" of a text.
std::string speed(const TextTokenizer& tokenizer, const std::string& text, bool comes_back) {
  const std::vector<int32_t> ids = tokenizer.encode(text);
  std::string back;
  for (const int32_t id : ids) {
    back += tokenizer.bytes(id);
  }
  if (comes_back && back != text && back != " " + text) {
    return "does not come back";
  }
  size_t tokens = 0;
  const double time = fastest_ms([&] { tokens += tokenizer.encode(text).size(); });
  return fmt::format("{:.1f} MB/s, {:.2f} bytes a token",
                     static_cast<double>(text.size()) / 1e3 / time,
                     static_cast<double>(text.size()) * kRounds / static_cast<double>(tokens));
}

int measure(const std::string& path) {
  const auto file = open_tensor_file(path);
  if (!file) {
    fmt::print("{}\n", file.error().message);
    return 1;
  }
  const size_t before = held_bytes();
  const auto tokenizer = create_text_tokenizer(*file);
  if (!tokenizer) {
    fmt::print("{}\n", tokenizer.error().message);
    return 1;
  }
  const size_t held = held_bytes() - before;
  const double open_ms = fastest_ms([&] { (void)open_tensor_file(path); });
  const double create_ms = fastest_ms([&] { (void)create_text_tokenizer(*file); });
  const auto model = file->metadata.find("tokenizer.ggml.model");
  const bool comes_back = std::get<std::string>(model->second) != "bert";
  fmt::print(
      "{}: {} tokens; the file is read in {:.1f} ms, the tokenizer made in {:.1f} ms; it "
      "holds {:.1f} MB, the file has {:.1f}\n",
      std::filesystem::path(path).filename().string(), (*tokenizer)->size(), open_ms, create_ms,
      static_cast<double>(held) / 1e6, static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  fmt::print("  prose: {}\n", speed(**tokenizer, texts_of("docs", ".md"), comes_back));
  fmt::print("  code:  {}\n", speed(**tokenizer, texts_of("src", ".cpp"), comes_back));
  return 0;
}

std::vector<std::string> shared_vocabularies() {
  const char* shared = std::getenv("MYNAH_SHARED");
  const auto folder = shared != nullptr && *shared != '\0'
                          ? std::filesystem::path(shared)
                          : std::filesystem::path(MYNAH_SOURCE_DIR) / "../shared";
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder / "tokenizers")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "tokenizers")) {
      if (entry.path().extension() == ".gguf") {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace
}  // namespace mynah

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty()) {
    paths = mynah::shared_vocabularies();
  }
  if (paths.empty()) {
    fmt::print("no vocabulary: name GGUF files, or set MYNAH_SHARED\n");
    return 1;
  }
  int failed = 0;
  for (const std::string& path : paths) {
    failed |= mynah::measure(path);
  }
  return failed;
}
