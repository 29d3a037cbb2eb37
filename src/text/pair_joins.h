// PairJoins: neighbours joined, the best pair first, until none is left: what byte pair encoding
// and SentencePiece have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

namespace mynah {

// A part of a text and the token that spells it, -1 where none does.
struct JoinPart {
  uint32_t begin = 0;
  uint32_t end = 0;
  int32_t id = -1;

  bool operator==(const JoinPart&) const = default;
};

// What two neighbours become; id -1: they do not join. The least `order` goes first, the leftmost
// pair among equals.
struct PairJoin {
  uint32_t order = 0;
  int32_t id = -1;
};

// Keeps its memory from text to text. A Joiner is called with two neighbours and says what they
// become.
class PairJoins {
 public:
  // Begins another text of at most 4 GB.
  void clear() { parts_.clear(); }

  // Parts come in order; each begins where the one before ends.
  void add(JoinPart part) { parts_.push_back(part); }

  // Joins the parts and returns what is left of them. Asks three times a part, seven at most, and
  // needs a time that grows as their number does: a long text is joined window by window. What is
  // joined by the least order first is right where each two neighbours that are left are what the
  // text of these two alone becomes: before the first join across a border nothing beyond its two
  // sides has a say in it. So two windows that have a part in common are right together, the first
  // up to it and the second behind it.
  template <class Joiner>
  std::span<const JoinPart> join(const Joiner& joiner) {
    if (parts_.size() <= kWindow) {
      join_whole(joiner);
    } else if (!join_windows(joiner)) {
      parts_ = all_;
      join_many(joiner);
    }
    return parts_;
  }

 private:
  // Below, looking at every pair is quicker than a queue of them.
  static constexpr size_t kFew = 24;
  // Parts of a window: their queue stays in a cache near the processor.
  static constexpr size_t kWindow = 2048;
  static constexpr uint32_t kNone = UINT32_MAX;

  // Two neighbours that could be joined. Out of date once either has changed, which `next_` and
  // the right one's end tell.
  struct Candidate {
    PairJoin join;
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t end = 0;

    bool operator>(const Candidate& other) const {
      return std::tie(join.order, left) > std::tie(other.join.order, other.left);
    }
  };

  template <class Joiner>
  void join_whole(const Joiner& joiner) {
    parts_.size() <= kFew ? join_few(joiner) : join_many(joiner);
  }

  // False where two windows have no part in common, or too few to go on with; then all_ has what
  // there was.
  template <class Joiner>
  bool join_windows(const Joiner& joiner) {
    all_.swap(parts_);
    joined_.clear();
    size_t begin = 0;   // of the window, in all_
    size_t common = 0;  // the window's first part that joined_ does not have
    for (;;) {
      const size_t end = std::min(begin + kWindow, all_.size());
      parts_.assign(all_.begin() + static_cast<ptrdiff_t>(begin),
                    all_.begin() + static_cast<ptrdiff_t>(end));
      join_whole(joiner);
      if (begin > 0) {
        const auto found = std::ranges::find_first_of(window_, parts_);
        if (found == window_.end()) {
          return false;
        }
        common = static_cast<size_t>(std::ranges::find(parts_, *found) - parts_.begin()) + 1;
        joined_.insert(joined_.end(), window_.begin(), found + 1);
      }
      if (end == all_.size()) {
        joined_.insert(joined_.end(), parts_.begin() + static_cast<ptrdiff_t>(common),
                       parts_.end());
        parts_.swap(joined_);
        return true;
      }
      // The next one begins where a part does, far enough from this one's end.
      const size_t next = common + (parts_.size() - common) * 7 / 8;
      if (next == common) {
        return false;
      }
      const auto is_before = [&](const JoinPart& part) { return part.begin < parts_[next].begin; };
      joined_.insert(joined_.end(), parts_.begin() + static_cast<ptrdiff_t>(common),
                     parts_.begin() + static_cast<ptrdiff_t>(next));
      window_.assign(parts_.begin() + static_cast<ptrdiff_t>(next), parts_.end());
      begin = static_cast<size_t>(std::partition_point(all_.begin() + static_cast<ptrdiff_t>(begin),
                                                       all_.end(), is_before) -
                                  all_.begin());
    }
  }

  template <class Joiner>
  void join_few(const Joiner& joiner) {
    pairs_.clear();
    for (size_t i = 0; i + 1 < parts_.size(); ++i) {
      pairs_.push_back(joiner(parts_[i], parts_[i + 1]));
    }
    for (;;) {
      size_t best = pairs_.size();
      for (size_t i = 0; i < pairs_.size(); ++i) {
        if (pairs_[i].id >= 0 && (best == pairs_.size() || pairs_[i].order < pairs_[best].order)) {
          best = i;
        }
      }
      if (best == pairs_.size()) {
        return;
      }
      parts_[best].end = parts_[best + 1].end;
      parts_[best].id = pairs_[best].id;
      parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(best) + 1);
      pairs_.erase(pairs_.begin() + static_cast<ptrdiff_t>(best));
      if (best < pairs_.size()) {
        pairs_[best] = joiner(parts_[best], parts_[best + 1]);
      }
      if (best > 0) {
        pairs_[best - 1] = joiner(parts_[best - 1], parts_[best]);
      }
    }
  }

  template <class Joiner>
  void join_many(const Joiner& joiner) {
    const auto count = static_cast<uint32_t>(parts_.size());
    candidates_.clear();
    next_.resize(count);
    previous_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      next_[i] = i + 1 < count ? i + 1 : kNone;
      previous_[i] = i > 0 ? i - 1 : kNone;
      propose(joiner, previous_[i], i);
    }
    std::ranges::make_heap(candidates_, std::greater<>());
    while (!candidates_.empty()) {
      const Candidate best = take_best();
      if (next_[best.left] != best.right || parts_[best.right].end != best.end) {
        continue;
      }
      parts_[best.left].end = best.end;
      parts_[best.left].id = best.join.id;
      const uint32_t after = next_[best.right];
      next_[best.left] = after;
      next_[best.right] = best.right;  // no candidate has a part as its own neighbour
      parts_[best.right].begin = best.end;
      const size_t before = candidates_.size();
      propose(joiner, previous_[best.left], best.left);
      propose(joiner, best.left, after);
      if (after != kNone) {
        previous_[after] = best.left;
      }
      for (size_t heap = before + 1; heap <= candidates_.size(); ++heap) {
        std::ranges::push_heap(candidates_.begin(),
                               candidates_.begin() + static_cast<ptrdiff_t>(heap),
                               std::greater<>());
      }
    }
    // A part that was joined into its left neighbour is empty.
    std::erase_if(parts_, [](const JoinPart& part) { return part.begin == part.end; });
  }

  template <class Joiner>
  void propose(const Joiner& joiner, uint32_t left, uint32_t right) {
    if (left == kNone || right == kNone) {
      return;
    }
    if (const PairJoin join = joiner(parts_[left], parts_[right]); join.id >= 0) {
      candidates_.push_back({.join = join, .left = left, .right = right, .end = parts_[right].end});
    }
  }

  Candidate take_best() {
    std::ranges::pop_heap(candidates_, std::greater<>());
    const Candidate best = candidates_.back();
    candidates_.pop_back();
    return best;
  }

  std::vector<JoinPart> parts_;
  std::vector<JoinPart> all_;     // of a long text, before they are joined
  std::vector<JoinPart> joined_;  // of it, up to the window before
  std::vector<JoinPart> window_;  // the end of that one
  std::vector<PairJoin> pairs_;   // of parts i and i + 1
  std::vector<uint32_t> next_;
  std::vector<uint32_t> previous_;
  std::vector<Candidate> candidates_;
};

}  // namespace mynah
