// listen FILE [MEDIA_PROGRAM [SAMPLES]]: reads a recording through open_audio, as recognition does,
// and prints how many samples it gave and this process's peak memory in KiB; to standard error,
// what is wrong with it, what is noted of it and the peak of mynah-media. The samples go to the
// file SAMPLES, as floats of 32 bits.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "audio/open.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  mynah::AudioOpenOptions options;
  options.media_program = argc > 2 ? argv[2] : "";
  options.note = [](const std::string& note) { fmt::print(stderr, "note: {}\n", note); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> kept(
      argc > 3 ? std::fopen(argv[3], "wb") : nullptr,
      [](std::FILE* file) { return file == nullptr ? 0 : std::fclose(file); });
  auto source = mynah::open_audio(argv[1], options);
  if (!source) {
    fmt::print(stderr, "{}\n", source.error().message);
  }
  std::vector<float> block(16000);
  size_t samples = 0;
  while (source) {
    const auto got = (*source)->read(block);
    if (!got) {
      fmt::print(stderr, "{}\n", got.error().message);
    }
    if (!got || *got == 0) {
      break;
    }
    samples += *got;
    if (kept) {
      std::fwrite(block.data(), sizeof(float), *got, kept.get());
    }
  }
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  fmt::print("{} {}\n", samples, own.ru_maxrss);
  source = std::unique_ptr<mynah::AudioSource>();  // ends mynah-media, so that it is counted
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  fmt::print(stderr, "mynah-media {} KiB\n", children.ru_maxrss);
}
