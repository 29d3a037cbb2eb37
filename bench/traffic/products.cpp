#include "products.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "backend/cuda/programs/programs.h"
#include "counter.h"
#include "tensor/dtype.h"

namespace mynah::bench {
namespace {

constexpr std::array kTypes = {DType::Q4_0, DType::Q4_K, DType::Q6_K, DType::Q8_0, DType::MXFP4};

struct Size {
  int64_t in;
  int64_t out;
};

// What attention gives back in Llama 3 8B, and the two sides of Qwen3 0.6B's gate.
constexpr std::array kSizes = {Size{4096, 4096}, Size{1024, 6144}};

constexpr double kSectorBytes = 32.0;

}  // namespace

std::string language_products() {
  std::string table = "weights\trows\tin\tout\tlevel\tkernel\tread from memory\tasked for";
  for (const Card& card : kCards) {
    table += fmt::format("\t{}", card.name);
  }
  table += "\n";
  for (const Card& card : kCards) {
    Counter counter(cuda::level_for(card.capability));
    for (const DType type : kTypes) {
      for (const Size& size : kSizes) {
        for (const int64_t rows : {1, 4, 8}) {
          const auto launches = counter.launches(
              cases::timed_linear_case(rows, size.in, size.out, type, Precision::Fast));
          const auto main = std::ranges::max_element(
              launches, {}, [](const auto& entry) { return entry.second.weight(); });
          const auto& [kernel, level] = main->first;
          Work work = main->second.work;
          const double weights = static_cast<double>(storage_bytes(type, size.in * size.out));
          const double moved = static_cast<double>(work.traffic.launch_sectors) * kSectorBytes;
          const double asked = static_cast<double>(work.traffic.global_sectors) * kSectorBytes;
          work.bytes = moved;
          // The launch itself: a step's are begun by a graph.
          const Estimate best = estimate(card, work, 0.0);
          table += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.2f}\t{:.2f}", name(type), rows, size.in,
                               size.out, level, kernel, moved / weights, asked / weights);
          for (const Card& other : kCards) {
            table += &other == &card
                         ? fmt::format("\t{:.0f} {}", 100.0 * weights / card.memory / best.seconds,
                                       best.bound)
                         : "\t";
          }
          table += "\n";
        }
      }
    }
  }
  return table;
}

}  // namespace mynah::bench
