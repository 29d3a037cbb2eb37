// SharedPositions: what texts take together of which some begin with the pages of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace mynah {

// The positions of another text that one begins with.
struct SharedBeginning {
  uint64_t text = 0;   // the other's number; 0: it shares none
  int64_t length = 0;  // positions
};

class SharedPositions {
 public:
  // In any order. What several texts share counts where the one that it came from is gone, too.
  void add(uint64_t number, int64_t length, const SharedBeginning& beginning) {
    int64_t& counted = counted_[number];
    int64_t known = counted;
    counted = std::max(counted, length);
    if (beginning.text != 0) {
      int64_t& counted_there = counted_[beginning.text];
      known = std::max(known, std::min(counted_there, beginning.length));
      counted_there = std::max(counted_there, beginning.length);
    }
    total_ += length - known;
  }

  [[nodiscard]] int64_t total() const { return total_; }

 private:
  std::map<uint64_t, int64_t> counted_;  // of each text the first positions that are in the total
  int64_t total_ = 0;
};

}  // namespace mynah
