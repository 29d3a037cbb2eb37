// mynah_bench_traffic: what each kernel would pay on a card, counted on the simulated one: a line a
// kernel and level. Of a launch a few blocks are run; the others pay the same.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/kernels/list.h"
#include "backend/cuda/programs/programs.h"
#include "cards.h"
#include "counter.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "products.h"

namespace mynah::bench {
namespace {

using cases::OpCase;
using simt::Traffic;

constexpr const char* kUsage =
    "usage: mynah_bench_traffic [--products]\n"
    "Prints, tab-separated, for each kernel and level: the operation it was counted in, its "
    "blocks,\n"
    "the share of moved bytes that was wanted, wavefronts a request to shared memory, products of\n"
    "matrix units a block, and what each card would take at best (microseconds, and what bounds "
    "it).\n"
    "--products: the products of language models' steps instead, for one text, four and eight:\n"
    "bytes read from memory and bytes asked for, of each byte of the weights, and the share of a\n"
    "card's bandwidth (percent) that the weights would be read with at best, launches by a "
    "graph.\n";

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
std::string cell(const Card& card, const Key& key, const Finding& finding) {
  if (!runs(card, key.first, key.second)) {
    return "";
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
      fmt::print("\t{}", cell(card, key, finding));
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

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--products") {
    fmt::print("{}", mynah::bench::language_products());
    return 0;
  }
  if (argc != 1) {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  return mynah::bench::main_of();
}
