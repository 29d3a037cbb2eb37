#include "backend/cuda/simt/traffic.h"

#include <algorithm>

namespace mynah::simt {

namespace {

constexpr uintptr_t kSectorBytes = 32;
constexpr uintptr_t kBanks = 32;
constexpr uintptr_t kBankBytes = 4;
// A wavefront moves at most a word of each bank.
constexpr uint32_t kWavefrontBytes = kBanks * kBankBytes;

// Distinct multiples of `unit` that the accesses touch.
std::vector<uintptr_t> units_of(std::span<const detail::Access> lanes, uintptr_t unit) {
  std::vector<uintptr_t> units;
  for (const detail::Access& access : lanes) {
    for (uintptr_t at = access.address / unit; at <= (access.address + access.bytes - 1) / unit;
         ++at) {
      units.push_back(at);
    }
  }
  std::ranges::sort(units);
  const auto repeated = std::ranges::unique(units);
  units.erase(repeated.begin(), repeated.end());
  return units;
}

// Wavefronts of lanes that are served together: the most words that one bank has to give.
uint64_t wavefronts_of(std::span<const detail::Access> lanes) {
  std::array<uint64_t, kBanks> words{};
  for (const uintptr_t word : units_of(lanes, kBankBytes)) {
    ++words[word % kBanks];
  }
  return *std::ranges::max_element(words);
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  blocks += other.blocks;
  global_requests += other.global_requests;
  global_bytes += other.global_bytes;
  global_sectors += other.global_sectors;
  block_sectors += other.block_sectors;
  launch_sectors += other.launch_sectors;
  shared_requests += other.shared_requests;
  shared_wavefronts += other.shared_wavefronts;
  barriers += other.barriers;
  matrix_products += other.matrix_products;
  return *this;
}

double Traffic::coalescing() const {
  return global_sectors == 0 ? 1.0
                             : static_cast<double>(global_bytes) /
                                   static_cast<double>(global_sectors * kSectorBytes);
}

double Traffic::bank_conflicts() const {
  return shared_requests == 0
             ? 1.0
             : static_cast<double>(shared_wavefronts) / static_cast<double>(shared_requests);
}

namespace detail {

void count_request(std::span<const Access> lanes, Traffic& traffic, Sectors& seen) {
  if (!lanes.front().shared) {
    ++traffic.global_requests;
    // What several lanes read of one address is moved once, and wanted once.
    std::vector<Access> wanted(lanes.begin(), lanes.end());
    std::ranges::sort(wanted, {}, &Access::address);
    uintptr_t end = 0;
    for (const Access& access : wanted) {
      const uintptr_t begin = std::max(access.address, end);
      const uintptr_t last = access.address + access.bytes;
      traffic.global_bytes += last > begin ? last - begin : 0;
      end = std::max(end, last);
    }
    const std::vector<uintptr_t> sectors = units_of(lanes, kSectorBytes);
    traffic.global_sectors += sectors.size();
    seen.insert(sectors.begin(), sectors.end());
    return;
  }
  // Wide accesses are served in as many parts as they are wider than a word, each of neighbouring
  // lanes.
  const uint32_t bytes = std::ranges::max_element(lanes, {}, &Access::bytes)->bytes;
  const size_t together = bytes <= kBankBytes ? lanes.size() : kWavefrontBytes / bytes;
  for (size_t first = 0; first < lanes.size(); first += together) {
    ++traffic.shared_requests;
    traffic.shared_wavefronts +=
        wavefronts_of(lanes.subspan(first, std::min(together, lanes.size() - first)));
  }
}

void WarpLog::settle(Traffic& traffic, Sectors& seen) {
  size_t longest = 0;
  for (const auto& log : lanes_) {
    longest = std::max(longest, log.size());
  }
  std::vector<Access> global;
  std::vector<Access> shared;
  for (size_t i = 0; i < longest; ++i) {
    global.clear();
    shared.clear();
    for (const auto& log : lanes_) {
      if (i < log.size()) {
        (log[i].shared ? shared : global).push_back(log[i]);
      }
    }
    for (const auto* request : {&global, &shared}) {
      if (!request->empty()) {
        count_request(*request, traffic, seen);
      }
    }
  }
  for (auto& log : lanes_) {
    log.clear();
  }
}

}  // namespace detail
}  // namespace mynah::simt
