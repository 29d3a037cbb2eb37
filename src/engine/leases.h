// Leases: what costs much to open is opened once, shared by those who ask for it by name, and let
// go when nobody held it for a while.
//
// What has a name is absent, loading, ready or draining (being let go). Who asks while it loads or
// drains waits: nothing is there twice, nothing that is held is let go.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
        : leases_(std::exchange(other.leases_, nullptr)), slot_(other.slot_) {}

    Lease& operator=(Lease&&) = delete;

    ~Lease() {
      if (leases_ != nullptr) {
        leases_->give_back(*slot_);
      }
    }

    const T& operator*() const { return *slot_->held; }

    const T* operator->() const { return slot_->held.get(); }

    // How long it is kept once nobody holds it; else it is as let_go_idle() says. The last word
    // counts, whoever has it.
    void keep_alive(Clock::duration idle) const {
      const std::lock_guard lock(leases_->mutex_);
      slot_->keep_alive = idle;
    }

   private:
    friend class Leases;

    Lease(Leases& leases, Slot& slot) : leases_(&leases), slot_(&slot) {}

    Leases* leases_;
    Slot* slot_;
  };

  Leases() = default;
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // Nobody may hold anything any more.
  ~Leases() {
    for (const auto& [name, slot] : slots_) {
      MYNAH_CHECK(slot.holders == 0, "a lease outlives what it is of");
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
      return Lease(*this, slot);
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
    ++slot.holders;
    changed_.notify_all();
    return Lease(*this, slot);
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
    Clock::time_point returned{};  // when the last holder gave it back
    std::optional<Clock::duration> keep_alive;
    Error error{};  // of the last failure
    uint64_t failures = 0;
  };

  // `kept`: how long what nobody holds is kept; none: for ever.
  std::vector<std::string> let_go(
      FunctionRef<std::optional<Clock::duration>(const Slot& slot)> kept) {
    std::vector<std::string> names;
    const auto now = Clock::now();
    std::unique_lock lock(mutex_);
    for (auto& [name, slot] : slots_) {
      const auto least = kept(slot);
      if (slot.phase == Phase::Ready && slot.holders == 0 && least &&
          now - slot.returned >= *least) {
        drain(lock, slot);
        names.push_back(name);
      }
    }
    return names;
  }

  void give_back(Slot& slot) {
    const std::lock_guard lock(mutex_);
    --slot.holders;
    slot.returned = Clock::now();
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

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Slot> slots_;  // which stay where they are
};

}  // namespace mynah::engine
