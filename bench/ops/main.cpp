// mynah_bench_ops: the table of operation cases in timing mode. Every row is first checked against
// ref, then timed, and set against what this machine can do at most.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "backend/ref/ref_backend.h"
#include "ceiling.h"
#include "ops/backends.h"
#include "ops/close.h"
#include "ops/op_case.h"

namespace mynah::bench {
namespace {

using cases::OpCase;

struct Options {
  std::string backend;  // empty: the best of this machine; "all": each
  std::string filter;   // part of a row's title
  std::string json;     // file for JSON lines
  int threads = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  bool check = true;
};

constexpr const char* kUsage =
    "usage: mynah_bench_ops [--backend NAME|all] [--filter TEXT] [--threads N] [--json FILE]\n"
    "                       [--no-check]\n"
    "Times the operations at the sizes of real models. A row that disagrees with the reference is\n"
    "not timed, and the exit code is 1. Percent is of the time that the machine's measured peak\n"
    "arithmetic and memory bandwidth would need at least; data that stays in cache can pass 100.\n";

bool parse(int argc, char** argv, Options& options) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool valued = i + 1 < words.size();
    if (words[i] == "--no-check") {
      options.check = false;
    } else if (words[i] == "--backend" && valued) {
      options.backend = words[++i];
    } else if (words[i] == "--filter" && valued) {
      options.filter = words[++i];
    } else if (words[i] == "--json" && valued) {
      options.json = words[++i];
    } else if (words[i] == "--threads" && valued) {
      options.threads = std::max(1, std::atoi(words[++i].c_str()));
    } else {
      return false;
    }
  }
  return true;
}

struct Timing {
  double median = 0.0;  // seconds
  double fastest = 0.0;
  double spread = 0.0;  // between the first and the third quartile, relative to the median
  size_t runs = 0;
};

Timing time(const cases::Step& step) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnough = 0.4;  // seconds
  constexpr size_t kLeast = 7;
  constexpr size_t kMost = 20000;
  step();
  step();
  std::vector<double> seconds;
  double total = 0.0;
  while (seconds.size() < kLeast || (total < kEnough && seconds.size() < kMost)) {
    const auto start = Clock::now();
    step();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += seconds.back();
  }
  std::ranges::sort(seconds);
  const size_t n = seconds.size();
  const double median = seconds[n / 2];
  return {median, seconds.front(), (seconds[n * 3 / 4] - seconds[n / 4]) / median, n};
}

// Empty where the row agrees with ref.
std::string check(const OpCase& c, Backend& backend) {
  RefBackend ref;
  const auto expected = cases::read(ref, c.prepare(ref)());
  return cases::disagreement(cases::read(backend, c.prepare(backend)()), expected,
                             c.bound(expected));
}

double peak_of(const OpCase& c, const Ceiling& ceiling) {
  switch (c.arithmetic) {
    case cases::Arithmetic::Int8:
      return ceiling.i8;
    case cases::Arithmetic::Bf16:
      return ceiling.bf16;
    default:
      return ceiling.f32;
  }
}

// The machine's processor, for people and for comparisons between machines.
std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

class Report {
 public:
  explicit Report(const std::string& json_path) {
    if (!json_path.empty()) {
      json_.open(json_path);
    }
  }

  void machine(const std::string& backend, const std::string& description, int threads,
               const Ceiling& c) {
    fmt::print("{}, {} ({}), {} threads\n", processor(), backend, description, threads);
    fmt::print("ceiling: {:.0f} GFLOP/s f32, {:.0f} bf16, {:.0f} int8, {:.1f} GB/s\n", c.f32 * 1e-9,
               c.bf16 * 1e-9, c.i8 * 1e-9, c.bytes * 1e-9);
    fmt::print("{:>11} {:>7} {:>9} {:>8} {:>7}  {}\n", "median us", "spread", "GFLOP/s", "GB/s",
               "percent", "row");
    json_ << fmt::format(
        R"({{"machine":"{}","backend":"{}","threads":{},"f32":{:.4g},"bf16":{:.4g},"i8":{:.4g},"bytes":{:.4g}}})"
        "\n",
        processor(), backend, threads, c.f32, c.bf16, c.i8, c.bytes);
  }

  void row(const OpCase& c, const std::string& backend, const Timing& t, const Ceiling& ceiling) {
    const double least = std::max(c.operations / peak_of(c, ceiling), c.bytes / ceiling.bytes);
    const double percent = 100.0 * least / t.median;
    fmt::print("{:11.2f} {:6.1f}% {:9.2f} {:8.2f} {:6.1f}%  {}\n", t.median * 1e6, t.spread * 100,
               c.operations / t.median * 1e-9, c.bytes / t.median * 1e-9, percent, c.title());
    std::fflush(stdout);
    json_ << fmt::format(
        R"({{"row":"{}","backend":"{}","median_s":{:.6g},"fastest_s":{:.6g},"spread":{:.3g},"runs":{},"flops":{:.6g},"bytes_per_s":{:.6g},"percent":{:.4g}}})"
        "\n",
        c.title(), backend, t.median, t.fastest, t.spread, t.runs, c.operations / t.median,
        c.bytes / t.median, percent);
  }

 private:
  std::ofstream json_;
};

// Whether every row of one backend agreed with ref.
bool run(const std::string& name, const Options& options, Report& report) {
  ThreadPool pool(options.threads);
  const auto backend = cases::make_backend(name, pool);
  const Ceiling ceiling = measure_ceiling(name.substr(name.find('/') + 1), pool);
  report.machine(name, backend->description(), options.threads, ceiling);
  bool agreed = true;
  for (const OpCase& c : cases::op_cases()) {
    if (!c.large || c.title().find(options.filter) == std::string::npos ||
        (c.weight.has_value() && !backend->supports_weight(*c.weight))) {
      continue;
    }
    const std::string wrong = options.check ? check(c, *backend) : "";
    if (!wrong.empty()) {
      fmt::print("{}: WRONG, not timed: {}\n", c.title(), wrong);
      agreed = false;
      continue;
    }
    report.row(c, name, time(c.prepare(*backend)), ceiling);
  }
  return agreed;
}

int main_of(const Options& options) {
  const std::vector<std::string> known = cases::backends_under_test();
  std::vector<std::string> wanted{options.backend};
  if (options.backend == "all") {
    wanted = known;
  } else if (options.backend.empty() && !known.empty()) {
    wanted = {known.back()};
  }
  Report report(options.json);
  bool agreed = true;
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) == known.end()) {
      fmt::print(stderr, "no backend '{}'; this machine has {}\n", name, fmt::join(known, ", "));
      return 2;
    }
    agreed = run(name, options, report) && agreed;
  }
  return agreed ? 0 : 1;
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  mynah::bench::Options options;
  if (!mynah::bench::parse(argc, argv, options)) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  return mynah::bench::main_of(options);
}
