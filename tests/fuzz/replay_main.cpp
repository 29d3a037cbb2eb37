// fuzz_replay TARGET FOLDER...: runs a fuzz target over the files of its corpus folders, where
// there is no libFuzzer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

namespace {
using FuzzTarget = int(const uint8_t* data, size_t size);
}

// CMakeLists.txt lists the targets, each compiled with a name of its own.
#define MYNAH_REPLAYED(name) extern "C" FuzzTarget replay_##name;
#include "replayed.inc"
#undef MYNAH_REPLAYED

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
#define MYNAH_REPLAYED(name) {#name, &replay_##name},
  const std::map<std::string_view, FuzzTarget*> targets = {
#include "replayed.inc"
  };
#undef MYNAH_REPLAYED
  const auto found = targets.find(argc > 1 ? argv[1] : "");
  if (found == targets.end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FOLDER...; no target '%s'\n",
                 argc > 1 ? argv[1] : "");
    return 2;
  }
  FuzzTarget& target = *found->second;
  target(nullptr, 0);
  int replayed = 0;
  for (int i = 2; i < argc; ++i) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(argv[i], error)) {
      files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& path : files) {
      std::ifstream stream(path, std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
      target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++replayed;
    }
  }
  std::printf("%d inputs replayed\n", replayed);
  // An empty corpus would pass in silence for ever.
  return replayed > 0 ? 0 : 1;
}
