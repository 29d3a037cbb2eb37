// Two models at work beside each other in one process: what each loses by the other.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace mynah::bench {

struct BesideOptions {
  std::string program;  // this one, to be started as a worker
  std::string request;  // devices, as --device has them
  int threads = 2;
  double turns = 1;  // times as many as usual
  std::string whisper;
  std::string family = "hibari";  // of the voice
  std::string voice;              // its network
  std::string cache_folder;
  std::vector<std::string> recordings;  // the first is what is heard urgently
};

// An urgent window of the first recording, alone and beside long work, by turns: beside thirty
// seconds of clauses of another model, and beside batches of the recordings' windows by the same
// model. Its own time beside to that alone, what the long work lost of it, and for one of the turns
// each model's operations, counted every millisecond. InvalidInput where an answer is another one
// than alone. Then two hundred stops of each.
[[nodiscard]] Result<nlohmann::ordered_json> bench_beside(const BesideOptions& options);

}  // namespace mynah::bench
