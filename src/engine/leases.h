// Leases: what costs much to open is opened once, shared by those who ask for it by name, and let
// go when nobody held it for a while.
//
// What has a name is absent, loading, ready or draining (being let go). Who asks while it loads or
// drains waits: nothing is there twice, nothing that is held is let go. Who looks at what is open
// holds it, and does not use it: it is kept no longer for that.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace mynah::engine {

template <class T>
class Leases {
  struct Slot;

 public:
  using Clock = std::chrono::steady_clock;

  // Holds what was asked for as long as it lives. Must not outlive its Leases.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : leases_(std::exchange(other.leases_, nullptr)), slot_(other.slot_), uses_(other.uses_) {}

    Lease& operator=(Lease&&) = delete;

    ~Lease() {
      if (leases_ != nullptr) {
        leases_->give_back(*slot_, uses_);
      }
    }

    const T& operator*() const { return *slot_->held; }

    const T* operator->() const { return slot_->held.get(); }

    // How long it is kept once nobody holds it; else it is as let_go_idle() says. The last word
    // counts, whoever has it, until it is let go. Clock::duration::max(): for ever.
    void keep_alive(Clock::duration idle) const { leases_->keep_alive(*slot_, idle); }

   private:
    friend class Leases;

    Lease(Leases& leases, Slot& slot, bool uses) : leases_(&leases), slot_(&slot), uses_(uses) {}

    Leases* leases_;
    Slot* slot_;
    bool uses_;
  };

  // What is open.
  struct Open {
    std::string name;
    size_t holders = 0;                         // who use it
    Clock::time_point returned{};               // when the last of them gave it back; none did: 0
    std::optional<Clock::duration> keep_alive;  // as a holder said
    Lease lease;                                // of who looks
  };

  // `on_word`: called where what was opened, or a holder's word, may make something due sooner than
  // next_due() said; from any thread, and not to ask back.
  explicit Leases(std::function<void()> on_word = {}) : on_word_(std::move(on_word)) {}

  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // Nobody may hold anything any more.
  ~Leases() {
    for (const auto& [name, slot] : slots_) {
      MYNAH_CHECK(slot.is_free(), "a lease outlives what it is of");
    }
  }

  // What has that name; `open` makes it where it is absent, outside of any lock. Where that fails
  // everybody who waited for it gets the error, and who comes later has it tried again. Cancelled:
  // stop was requested while another opened it.
  [[nodiscard]] Result<Lease> take(const std::string& name,
                                   FunctionRef<Result<std::unique_ptr<const T>>()> open,
                                   const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[name];
    const uint64_t seen = slot.failures;
    const auto settled = [&] {
      return slot.phase == Phase::Ready || slot.phase == Phase::Absent || slot.failures != seen;
    };
    if (!changed_.wait(lock, stop, settled)) {
      return fail(ErrorCode::Cancelled, "stopped while " + name + " was opened");
    }
    if (slot.failures != seen && slot.phase != Phase::Ready) {
      return std::unexpected(slot.error);
    }
    if (slot.phase == Phase::Ready) {
      ++slot.holders;
      return Lease(*this, slot, true);
    }
    slot.phase = Phase::Loading;
    lock.unlock();
    auto opened = open();
    lock.lock();
    if (!opened) {
      slot.error = opened.error();
      slot.phase = Phase::Absent;
      ++slot.failures;
      changed_.notify_all();
      return std::unexpected(std::move(opened).error());
    }
    slot.held = *std::move(opened);
    slot.phase = Phase::Ready;
    slot.keep_alive.reset();
    ++slot.holders;
    changed_.notify_all();
    lock.unlock();
    tell();
    return Lease(*this, slot, true);
  }

  // Lets go of what nobody held for so long, or for as long as was wanted of it; returns the names.
  // None: of what nothing was wanted of stays.
  std::vector<std::string> let_go_idle(std::optional<Clock::duration> idle) {
    return let_go([idle](const Slot& slot) { return slot.keep_alive ? slot.keep_alive : idle; });
  }

  // Lets go of all that nobody holds.
  std::vector<std::string> let_go_unused() {
    return let_go([](const Slot& /*slot*/) { return std::optional(Clock::duration{}); });
  }

  // Lets go of what is meant: at once where nobody holds it, else within the time that who calls
  // let_go_idle() takes, once nobody does. Returns the names of both.
  std::vector<std::string> let_go_of(FunctionRef<bool(const std::string& name)> is_meant) {
    std::vector<std::string> names;
    bool is_held = false;
    std::unique_lock lock(mutex_);
    for (auto& [name, slot] : slots_) {
      if (slot.phase != Phase::Ready || !is_meant(name)) {
        continue;
      }
      names.push_back(name);
      if (slot.is_free()) {
        drain(lock, slot);
      } else {
        slot.keep_alive = Clock::duration{};
        is_held = true;
      }
    }
    lock.unlock();
    if (is_held) {
      tell();
    }
    return names;
  }

  // Looks at all that is open.
  [[nodiscard]] std::vector<Open> look() {
    std::vector<Open> all;
    const std::lock_guard lock(mutex_);
    for (auto& [name, slot] : slots_) {
      if (slot.phase == Phase::Ready) {
        ++slot.lookers;
        all.push_back({.name = name,
                       .holders = slot.holders,
                       .returned = slot.returned,
                       .keep_alive = slot.keep_alive,
                       .lease = Lease(*this, slot, false)});
      }
    }
    return all;
  }

  // How long let_go_idle() has nothing to let go, but by a new word; none: for ever.
  [[nodiscard]] std::optional<Clock::duration> next_due(std::optional<Clock::duration> idle) const {
    const auto now = Clock::now();
    std::optional<Clock::duration> next;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, slot] : slots_) {
      const auto kept = slot.keep_alive ? slot.keep_alive : idle;
      if (slot.phase == Phase::Ready && kept && *kept != Clock::duration::max()) {
        const auto left = slot.is_free() ? *kept - (now - slot.returned) : *kept;
        next = std::min(next.value_or(left), left);
      }
    }
    return next;
  }

  // The names of what is open, and how many hold each.
  [[nodiscard]] std::map<std::string, size_t> open() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, size_t> all;
    for (const auto& [name, slot] : slots_) {
      if (slot.phase == Phase::Ready) {
        all.emplace(name, slot.holders);
      }
    }
    return all;
  }

 private:
  enum class Phase : uint8_t { Absent, Loading, Ready, Draining };

  struct Slot {
    Phase phase = Phase::Absent;
    std::unique_ptr<const T> held;  // Ready
    size_t holders = 0;
    size_t lookers = 0;
    Clock::time_point returned{};  // when the last holder gave it back
    std::optional<Clock::duration> keep_alive;
    Error error{};  // of the last failure
    uint64_t failures = 0;

    [[nodiscard]] bool is_free() const { return holders == 0 && lookers == 0; }
  };

  // `kept`: how long what nobody holds is kept; none: for ever.
  std::vector<std::string> let_go(
      FunctionRef<std::optional<Clock::duration>(const Slot& slot)> kept) {
    std::vector<std::string> names;
    const auto now = Clock::now();
    std::unique_lock lock(mutex_);
    for (auto& [name, slot] : slots_) {
      const auto least = kept(slot);
      if (slot.phase == Phase::Ready && slot.is_free() && least && now - slot.returned >= *least) {
        drain(lock, slot);
        names.push_back(name);
      }
    }
    return names;
  }

  void give_back(Slot& slot, bool used) {
    const std::lock_guard lock(mutex_);
    if (used) {
      --slot.holders;
      slot.returned = Clock::now();
    } else {
      --slot.lookers;
    }
  }

  void keep_alive(Slot& slot, Clock::duration idle) {
    {
      const std::lock_guard lock(mutex_);
      if (slot.keep_alive == idle) {
        return;
      }
      slot.keep_alive = idle;
    }
    tell();
  }

  void tell() const {
    if (on_word_) {
      on_word_();
    }
  }

  // A model's end waits for its worker's: nobody else waits for that, but who asks for it.
  void drain(std::unique_lock<std::mutex>& lock, Slot& slot) {
    slot.phase = Phase::Draining;
    std::unique_ptr<const T> last = std::move(slot.held);
    lock.unlock();
    last.reset();
    lock.lock();
    slot.phase = Phase::Absent;
    changed_.notify_all();
  }

  std::function<void()> on_word_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Slot> slots_;  // which stay where they are
};

}  // namespace mynah::engine
