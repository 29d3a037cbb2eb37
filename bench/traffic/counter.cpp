#include "counter.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <unistd.h>

#include "backend/cuda/kernels/list.h"
#include "backend/cuda/programs/programs.h"
#include "tensor/device_error.h"

namespace mynah::bench {
namespace {

using cases::OpCase;
using simt::LaunchReport;
using simt::Traffic;

// Blocks of a launch that are run.
constexpr int64_t kSample = 4;

uint64_t scaled(uint64_t count, double factor) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(count) * factor));
}

// Sectors of a launch, each once: what the blocks that ran have in common all others have too, and
// the rest of a block is its own.
uint64_t sectors_of_launch(const LaunchReport& report) {
  const Traffic& t = report.traffic;
  if (t.blocks < 2) {
    return t.launch_sectors * static_cast<uint64_t>(report.blocks);
  }
  const uint64_t common = (t.block_sectors - t.launch_sectors) / (t.blocks - 1);
  const double own = static_cast<double>(t.launch_sectors - std::min(common, t.launch_sectors)) /
                     static_cast<double>(t.blocks);
  return common + scaled(static_cast<uint64_t>(report.blocks), own);
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
          .block_sectors = scaled(t.block_sectors, factor),
          .launch_sectors = sectors_of_launch(report),
          .shared_requests = scaled(t.shared_requests, factor),
          .shared_wavefronts = scaled(t.shared_wavefronts, factor),
          .barriers = scaled(t.barriers, factor),
          .matrix_products = scaled(t.matrix_products, factor)};
}

}  // namespace

double Finding::weight() const {
  return static_cast<double>(work.traffic.global_sectors + work.traffic.shared_wavefronts +
                             64 * work.traffic.matrix_products);
}

Counter::Counter(int level)
    : pool_(static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))),
      sampled_(backend(level, kSample)),
      whole_(backend(level, 0)) {}

std::unique_ptr<Backend> Counter::backend(int level, int64_t sample) {
  return make_simt_backend(
      pool_, {.level = level,
              .check_shared = false,
              .observer = [this](const LaunchReport& report) { launches_.push_back(report); },
              .sample_blocks = sample});
}

void Counter::run(const OpCase& c, Backend& backend) {
  launches_.clear();
  const cases::Step step = c.prepare(backend);
  before_ = launches_.size();
  (void)step();
}

std::vector<std::pair<Key, Finding>> Counter::launches(const OpCase& c) {
  if (c.weight && !sampled_->supports_weight(*c.weight)) {
    return {};
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
  return found;
}

void Counter::count(const OpCase& c, Findings& best) {
  for (auto& [key, finding] : launches(c)) {
    const auto [at, fresh] = best.try_emplace(key, finding);
    if (!fresh && finding.weight() > at->second.weight()) {
      at->second = std::move(finding);
    }
  }
}

bool runs(const Card& card, std::string_view kernel, int level) {
  for (size_t i = 0; i < cuda::kKernelCount; ++i) {
    const auto id = static_cast<cuda::KernelId>(i);
    if (cuda::entry_of(id).substr(std::string_view("mynah_").size()) == kernel) {
      const cuda::Program* const program =
          cuda::program_for(cuda::group_of(id), cuda::level_for(card.capability));
      return program != nullptr && program->level == level;
    }
  }
  return true;
}

}  // namespace mynah::bench
