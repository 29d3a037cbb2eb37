// mynah_bench_traffic: what each kernel would pay on a card, counted on the simulated one: a line a
// kernel and level. Of a launch a few blocks are run; the others pay the same.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/kernels/list.h"
#include "backend/cuda/programs/programs.h"
#include "cards.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "tensor/device_error.h"

namespace mynah::bench {
namespace {

using cases::OpCase;
using simt::LaunchReport;
using simt::Traffic;

constexpr const char* kUsage =
    "usage: mynah_bench_traffic\n"
    "Prints, tab-separated, for each kernel and level: the operation it was counted in, its "
    "blocks,\n"
    "the share of moved bytes that was wanted, wavefronts a request to shared memory, products of\n"
    "matrix units a block, and what each card would take at best (microseconds, and what bounds "
    "it).\n";

// Blocks of a launch that are run.
constexpr int64_t kSample = 4;

// A kernel's launch in one operation.
struct Finding {
  std::string row;
  Work work;

  // The longest of an operation's kernels is what its arithmetic is done by.
  [[nodiscard]] double weight() const {
    return static_cast<double>(work.traffic.global_sectors + work.traffic.shared_wavefronts +
                               64 * work.traffic.matrix_products);
  }
};

using Key = std::pair<std::string, int>;  // kernel and level
using Findings = std::map<Key, Finding>;

uint64_t scaled(uint64_t count, double factor) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(count) * factor));
}

// Of all blocks, where those that ran are like the others.
Traffic of_all_blocks(const LaunchReport& report) {
  const double factor = static_cast<double>(report.blocks) /
                        static_cast<double>(std::max<uint64_t>(1, report.traffic.blocks));
  const Traffic& t = report.traffic;
  return {.blocks = static_cast<uint64_t>(report.blocks),
          .global_requests = scaled(t.global_requests, factor),
          .global_bytes = scaled(t.global_bytes, factor),
          .global_sectors = scaled(t.global_sectors, factor),
          .shared_requests = scaled(t.shared_requests, factor),
          .shared_wavefronts = scaled(t.shared_wavefronts, factor),
          .barriers = scaled(t.barriers, factor),
          .matrix_products = scaled(t.matrix_products, factor)};
}

class Counter {
 public:
  explicit Counter(int level) : sampled_(backend(level, kSample)), whole_(backend(level, 0)) {}

  // What the operation's kernels pay; a better finding of a kernel is one that pays more.
  void count(const OpCase& c, Findings& best) {
    if (c.weight && !sampled_->supports_weight(*c.weight)) {
      return;
    }
    try {
      run(c, *sampled_);
    } catch (const DeviceError&) {
      run(c, *whole_);  // a kernel needs all that the one before it writes
    }
    std::vector<std::pair<Key, Finding>> found;
    found.reserve(launches_.size());
    for (const LaunchReport& report : launches_) {
      found.push_back({{std::string(report.kernel), report.level},
                       {c.title(), {.traffic = of_all_blocks(report), .blocks = report.blocks}}});
    }
    // Those before are of its inputs: keys laid out, numbers cast.
    const auto own = found.begin() + static_cast<std::ptrdiff_t>(before_);
    const auto main = std::ranges::max_element(
        own, found.end(), {}, [](const auto& entry) { return entry.second.weight(); });
    if (main != found.end()) {
      main->second.work.operations = c.operations;
      main->second.work.bytes = c.bytes;
      main->second.work.arithmetic = c.arithmetic;
    }
    for (auto& [key, finding] : found) {
      const auto [at, fresh] = best.try_emplace(key, finding);
      if (!fresh && finding.weight() > at->second.weight()) {
        at->second = std::move(finding);
      }
    }
  }

 private:
  std::unique_ptr<Backend> backend(int level, int64_t sample) {
    return make_simt_backend(
        pool_, {.level = level,
                .check_shared = false,
                .observer = [this](const LaunchReport& report) { launches_.push_back(report); },
                .sample_blocks = sample});
  }

  void run(const OpCase& c, Backend& backend) {
    launches_.clear();
    const cases::Step step = c.prepare(backend);
    before_ = launches_.size();
    (void)step();
  }

  ThreadPool pool_{static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))};
  std::vector<LaunchReport> launches_;
  size_t before_ = 0;  // of them before the operation
  std::unique_ptr<Backend> sampled_;
  std::unique_ptr<Backend> whole_;
};

// The rows to count in, those first that say most of a kernel: sizes of models; then whole rows;
// then what the table has besides.
std::vector<std::vector<OpCase>> rows_in_order() {
  std::vector<std::vector<OpCase>> rows(3);
  for (const DType dtype : cases::weight_types()) {
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      for (const int64_t count : {1500, 1}) {
        rows[0].push_back(cases::timed_linear_case(count, 512, 2048, dtype, precision));
      }
    }
  }
  // tiny's second convolution, and large's: tiles of either size.
  for (const DType dtype : {DType::F16, DType::BF16}) {
    for (const int64_t width : {384, 1280}) {
      rows[0].push_back(cases::timed_conv1d_case(width, width, 2, dtype, Precision::Fast));
    }
  }
  for (OpCase& c : cases::op_cases()) {
    // What is seldom comes last, and what is made of another operation's launches.
    const bool strided = c.name.find("strided") != std::string::npos;
    const bool penalised = c.name.find("penalised") != std::string::npos;
    const bool composed = c.op == "conv_transpose1d";
    const bool first = c.large && !penalised && !composed;
    rows[first ? 0 : strided || penalised || composed ? 2 : 1].push_back(std::move(c));
  }
  return rows;
}

Findings count_all(int level) {
  Counter counter(level);
  Findings all;
  for (const std::vector<OpCase>& rows : rows_in_order()) {
    Findings found;
    for (const OpCase& c : rows) {
      counter.count(c, found);
    }
    all.merge(found);
  }
  return all;
}

std::string_view name_of(cuda::KernelId id) {
  return cuda::entry_of(id).substr(std::string_view("mynah_").size());
}

// What the card would take, where it is this level's program that it runs.
std::string cell(const Card& card, std::string_view kernel, int level, const Finding& finding) {
  for (size_t i = 0; i < cuda::kKernelCount; ++i) {
    const auto id = static_cast<cuda::KernelId>(i);
    if (name_of(id) == kernel) {
      const std::string_view group = cuda::group_of(id);
      const cuda::Program* const program =
          cuda::program_for(group, cuda::level_for(card.capability));
      if (program == nullptr || program->level != level) {
        return "";
      }
    }
  }
  const Estimate best = estimate(card, finding.work);
  return fmt::format("{:.1f} {}", best.seconds * 1e6, best.bound);
}

void print(const Findings& findings) {
  fmt::print("kernel\tlevel\trow\tblocks\tcoalesced\tconflicts\tunits");
  for (const Card& card : kCards) {
    fmt::print("\t{}", card.name);
  }
  fmt::print("\n");
  for (const auto& [key, finding] : findings) {
    const auto& [kernel, level] = key;
    const Traffic& traffic = finding.work.traffic;
    fmt::print("{}\t{}\t{}\t{}\t{:.0f}\t{:.2f}\t{}", kernel, level, finding.row,
               finding.work.blocks, 100.0 * traffic.coalescing(), traffic.bank_conflicts(),
               traffic.matrix_products / std::max<uint64_t>(1, traffic.blocks));
    for (const Card& card : kCards) {
      fmt::print("\t{}", cell(card, kernel, level, finding));
    }
    fmt::print("\n");
  }
}

// Kernels that no operation of the table launched.
std::vector<std::string> missing(const Findings& findings) {
  std::vector<std::string> names;
  for (size_t i = 0; i < cuda::kKernelCount; ++i) {
    const std::string_view kernel = name_of(static_cast<cuda::KernelId>(i));
    if (std::ranges::none_of(findings,
                             [&](const auto& entry) { return entry.first.first == kernel; })) {
      names.emplace_back(kernel);
    }
  }
  return names;
}

int main_of() {
  Findings all;
  for (const int level : simt_levels()) {
    Findings found = count_all(level);
    all.merge(found);
  }
  print(all);
  const std::vector<std::string> left_out = missing(all);
  if (!left_out.empty()) {
    fmt::print(stderr, "mynah_bench_traffic: no operation of the table runs {}\n",
               fmt::join(left_out, ", "));
  }
  return left_out.empty() ? 0 : 1;
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char**) {
  if (argc != 1) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  return mynah::bench::main_of();
}
