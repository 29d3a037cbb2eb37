// Turns: who of several computes now on threads that they share. Urgent work goes first; who is set
// aside goes on where it was.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace mynah {

// How soon somebody wants what is computed.
enum class Urgency : uint8_t {
  Bulk,         // when it is done: files, books
  Interactive,  // now: somebody speaks, or waits for an answer
};

// The urgency of what this thread asks for: Bulk, unless it is in an UrgencyScope.
[[nodiscard]] Urgency urgency();

// While it lives what this thread asks for is so urgent.
class UrgencyScope {
 public:
  explicit UrgencyScope(Urgency wanted);
  ~UrgencyScope();
  UrgencyScope(const UrgencyScope&) = delete;
  UrgencyScope& operator=(const UrgencyScope&) = delete;

 private:
  Urgency before_;
};

// Thread-safe. The most urgent goes first, and among equals who came first. Who has a turn keeps it
// from one of its steps to the next; somebody more urgent gets it at the next step and keeps it
// until he has done, equals hand it around every kSlice.
class Turns {
 public:
  // What a turn costs who waits for it beside the step under way, and how often caches are filled
  // anew: a decoder's token takes a millisecond, a layer of an encoder some tens.
  static constexpr std::chrono::milliseconds kSlice{10};

  // Of so many threads; 1 at least.
  explicit Turns(int threads) : free_(threads), threads_(threads) {}

  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Has its turn as long as it lives, but for what let_others_go_before() does. Belongs to one
  // thread, which has no other turn of the same threads and waits for nobody who wants one.
  class Turn {
   public:
    // Waits until it is on. `share`: on so many of the threads, all of them at most.
    Turn(Turns& turns, int share, Urgency urgency);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether it is somebody else's turn. Costs next to nothing where nobody waits.
    [[nodiscard]] bool is_over() const {
      const bool is_set_aside =
          urgency_ == Urgency::Bulk && turns_.urgent_.load(std::memory_order_relaxed) > 0;
      return is_set_aside ||
             (turns_.awaited() > 0 && std::chrono::steady_clock::now() - since_ >= kSlice);
    }

    // Between two steps: lets others go before where it is their turn, and returns when it is on
    // again.
    void let_others_go_before();

   private:
    friend class Turns;

    Turns& turns_;
    int share_;
    Urgency urgency_;
    uint64_t place_ = 0;  // in the order of coming
    bool is_on_ = false;
    std::chrono::steady_clock::time_point since_;  // it is on
    std::condition_variable called_;
  };

  // How many wait for their turn.
  [[nodiscard]] int awaited() const { return awaited_.load(std::memory_order_relaxed); }

 private:
  void wait_for(std::unique_lock<std::mutex>& lock, Turn& turn);
  // Those at the head of the line that there is room for.
  void call_next();

  std::mutex mutex_;
  std::list<Turn*> line_;  // who waits, the next one first
  std::atomic<int> awaited_{0};
  std::atomic<int> urgent_{0};  // of those
  int free_;
  int threads_;
  uint64_t came_ = 0;
};

}  // namespace mynah
