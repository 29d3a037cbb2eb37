// SharedShadow: who was where in a block's memory, to find threads that meet with no barrier
// between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mynah::simt::detail {

// For each warp a time before which all it did is over: what a thread knows, or is told.
using Knowledge = std::vector<uint32_t>;

// Happens-before by counting: every barrier and every exchange of a warp moves the clock on. Two
// accesses of one byte by different threads, one of them a write, are a race unless a barrier of
// the block, or within a warp an exchange, lies between, or the first one's warp told of it after
// an exchange (release) and the second thread was told since (acquire).
class SharedShadow {
 public:
  // Forgets everything; `bytes` of memory, `warps` of threads.
  void begin(size_t bytes, int warps);

  void on_barrier() { barrier_clock_ = ++clock_; }

  void on_exchange(int warp) { exchange_clocks_[static_cast<size_t>(warp)] = ++clock_; }

  // Notes an access to bytes [begin, begin + count); what is wrong with it, if anything is.
  std::optional<std::string> note(size_t begin, size_t count, int thread, bool writes);

  // The same of a copy that is on its way to these bytes: a write, until whose end nobody may come
  // near.
  std::optional<std::string> begin_copy(size_t begin, size_t count, int thread);
  void end_copy(size_t begin, size_t count, int thread);

  // Adds what `thread` knows to `to`, and of its own warp what was before the last exchange.
  void release(int thread, Knowledge& to) const;
  // `thread` is told what `from` knows.
  void acquire(int thread, const Knowledge& from);
  // end_copy(), of which `to` is told.
  void end_copy(size_t begin, size_t count, int thread, Knowledge& to);

 private:
  static constexpr uint16_t kNobody = 0xFFFF;
  static constexpr uint16_t kSeveralOfAWarp = 0xFFFE;
  static constexpr uint16_t kSeveral = 0xFFFD;
  static constexpr uint16_t kOnItsWay = 0xFFFC;

  // A byte's last writer and the readers since.
  struct Cell {
    uint32_t write_clock = 0;
    uint32_t read_clock = 0;
    uint16_t writer = kNobody;
    uint16_t reader = kNobody;
    uint16_t reader_warp = 0;
  };

  // Whether an access of `thread` comes after one of `other` (of `other_warp`) at `clock`.
  [[nodiscard]] bool ordered(int other, int other_warp, uint32_t clock, int thread) const;
  // The same of accesses of any warp but its own.
  [[nodiscard]] bool ordered_after_all(uint32_t clock, int thread) const;
  [[nodiscard]] uint32_t known(int thread, int warp) const;
  void note_reader(Cell& cell, int thread) const;

  uint32_t clock_ = 1;
  uint32_t barrier_clock_ = 1;  // no access before it can meet one after it
  std::vector<uint32_t> exchange_clocks_;
  std::vector<Knowledge> known_;  // by thread, once any was told
  std::vector<Cell> cells_;
  size_t used_ = 0;  // of them since begin(), from the first on
};

}  // namespace mynah::simt::detail
