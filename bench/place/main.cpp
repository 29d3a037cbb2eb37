// mynah_bench_place: what Placement costs inside a process; bench/place.py runs it and measures
// the rest from outside. One JSON object on stdout.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "beside.h"
#include "boundary.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/worker_main.h"
#include "planning.h"

namespace mynah::bench {
namespace {

constexpr const char* kUsage =
    "usage: mynah_bench_place boundary [--device DEVICE] [--threads N] [--turns "
    "X]\n"
    "           [--silero FILE] [--whisper FILE] [--hibari FILE] [--cache FOLDER]\n"
    "           [--recording FILE]...\n"
    "       mynah_bench_place plan --device REQUEST --hibari FILE --cache FOLDER\n"
    "           [--driver FILE]\n"
    "       mynah_bench_place beside --device REQUEST --whisper FILE --hibari|--piper FILE\n"
    "           --cache FOLDER --recording FILE... [--threads N] [--turns X]\n"
    "boundary: the same stages on the device in this process and in a worker, by turns. --turns:\n"
    "times as many as usual. plan: where hibari goes, for the first time of this process and "
    "later.\n"
    "beside: an urgent window of the first recording beside long work of another model, and of its "
    "own.\n";

struct Options {
  BoundaryOptions boundary;
  PlanningOptions planning;
  BesideOptions beside;
  std::string verb;
};

std::optional<Options> parse(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() % 2 != 1 ||
      (words[0] != "boundary" && words[0] != "plan" && words[0] != "beside")) {
    return std::nullopt;
  }
  Options options{.boundary = {}, .planning = {}, .beside = {}, .verb = words[0]};
  BoundaryOptions& boundary = options.boundary;
  boundary.program = "/proc/self/exe";
  boundary.device = "cpu";
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--device") {
      boundary.device = value;
    } else if (words[i] == "--threads") {
      boundary.threads = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--turns") {
      boundary.turns = std::atof(value.c_str());
    } else if (words[i] == "--silero") {
      boundary.silero = value;
    } else if (words[i] == "--whisper") {
      boundary.whisper = value;
    } else if (words[i] == "--hibari") {
      boundary.hibari = value;
    } else if (words[i] == "--piper") {
      options.beside.family = "piper";
      boundary.hibari = value;
    } else if (words[i] == "--cache") {
      boundary.cache_folder = value;
    } else if (words[i] == "--recording") {
      boundary.recordings.push_back(value);
    } else if (words[i] == "--driver") {
      options.planning.cuda_driver = value;
    } else {
      return std::nullopt;
    }
  }
  options.planning.program = boundary.program;
  options.planning.request = boundary.device;
  options.planning.model = boundary.hibari;
  options.planning.cache_folder = boundary.cache_folder;
  options.beside = {.program = boundary.program,
                    .request = boundary.device,
                    .threads = boundary.threads,
                    .turns = boundary.turns,
                    .whisper = boundary.whisper,
                    .family = options.beside.family,
                    .voice = boundary.hibari,
                    .cache_folder = boundary.cache_folder,
                    .recordings = boundary.recordings};
  const bool whole =
      words[0] == "boundary" || (!boundary.hibari.empty() && !boundary.cache_folder.empty());
  return whole ? std::optional(std::move(options)) : std::nullopt;
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  // A worker of this bench: it does what mynah's do.
  if (argc > 1 && std::string_view(argv[1]) == mynah::place::kWorkerArgument) {
    return mynah::place::run_worker();
  }
  const auto options = mynah::bench::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  const auto report = options->verb == "plan"     ? mynah::bench::bench_planning(options->planning)
                      : options->verb == "beside" ? mynah::bench::bench_beside(options->beside)
                                                  : mynah::bench::bench_boundary(options->boundary);
  if (!report) {
    fmt::print(stderr, "mynah_bench_place: {}\n", report.error().message);
    return 1;
  }
  fmt::print("{}\n", report->dump(1));
  return 0;
}
