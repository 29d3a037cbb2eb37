// Rungs: where a model is now, and how it goes on elsewhere when that fails.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "place/proofs/canary.h"
#include "place/state/placement_state.h"
#include "place/workers/call_clock.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {

// Who uses a model now, and when the last one had done. Thread-safe.
class Uses : public std::enable_shared_from_this<Uses> {
 public:
  // In use until the last copy of this goes.
  [[nodiscard]] std::shared_ptr<const void> begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
    return {this, [uses = shared_from_this()](const void* /*self*/) { uses->end(); }};
  }

  // How long it has not been used; none: it is in use.
  [[nodiscard]] std::optional<std::chrono::steady_clock::duration> idle() const {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? std::optional(std::chrono::steady_clock::now() - ended_) : std::nullopt;
  }

 private:
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    ended_ = std::chrono::steady_clock::now();
  }

  mutable std::mutex mutex_;
  int count_ = 0;
  std::chrono::steady_clock::time_point ended_ = std::chrono::steady_clock::now();
};

// Somebody who keeps what a model made for him from one call to the next.
class Keeper {
 public:
  virtual ~Keeper() = default;

  // The model is let go: so is what is kept of it. Nobody uses it meanwhile; it may not ask the
  // rungs for anything.
  virtual void let_go() = 0;
};

// A model with what it computes on, which goes after it, and keeps none of its memory for others.
template <class Model, class... Backends>
std::shared_ptr<const Model> keeping(std::shared_ptr<const Model> model, Backends... backends) {
  const Model* const self = model.get();
  return {self, [model = std::move(model),
                 ... backends = std::move(backends)](const Model* /*self*/) mutable {
            model.reset();
            (backends->release_idle_memory(), ...);
          }};
}

// Model: VoiceDetector, WindowModel or VoiceModel. Thread-safe.
template <class Model>
class Rungs {
 public:
  // A model, and what computes its probe where it is on a device; that may throw DeviceError.
  struct Opened {
    std::shared_ptr<const Model> model;
    std::function<Result<Probe>()> probe;
  };

  using Opener = std::function<Result<Opened>(const StagePlaces&, PlacementState&)>;

  // An open model. A rung that was left stays usable by who still holds it.
  struct Rung {
    uint64_t number = 0;
    StagePlaces where;
    std::shared_ptr<const Model> model;
    std::function<Result<Probe>()> probe;
    std::shared_ptr<Canary> canary;   // null: it computes here
    std::shared_ptr<const void> use;  // of now(): while somebody has it, it is in use
  };

  Rungs(ModelId id, std::shared_ptr<PlacementState> state, Opener open)
      : id_(id), state_(std::move(state)), open_(std::move(open)) {}

  ~Rungs() {
    if (rung_) {
      rung_.reset();
      state_->openings().gone(id_);
    }
  }

  Rungs(const Rungs&) = delete;
  Rungs& operator=(const Rungs&) = delete;

  // Opens the first rung that can be opened; refused with the reason of the device that was asked
  // for. Errors that are not of the device (the model's file) are told at once. Returns the model.
  Result<std::shared_ptr<const Model>> begin() {
    const std::lock_guard lock(mutex_);
    MYNAH_TRY_STATUS(open_next());
    return rung_->model;
  }

  // Opens it where it was let go, and goes where it is better where a device is trusted again.
  // It is not let go while somebody has what is returned. Throws DeviceError where there is
  // nowhere.
  [[nodiscard]] Rung now() {
    const std::lock_guard lock(mutex_);
    reopen_where_lost();
    if (rung_ && state_->trust().regained() != trust_) {
      trust_ = state_->trust().regained();
      go_where_it_is_better();
    }
    if (!rung_) {
      if (const Status opened = open_again(); !opened) {
        owed_.reset();  // it is heard now
        throw DeviceError(opened.error());
      }
    }
    Rung rung = *rung_;
    rung.use = uses_->begin();
    return rung;
  }

  // Does the work where the model is now, and again on the next device where that one fails. What
  // the work refuses, or the processor, is returned; the last device's error where none is left.
  // `windows`: how many the work was on when it was tried last; null: it is on none.
  template <class Work>
  std::invoke_result_t<Work, const Rung&> on_some_rung(const Work& work,
                                                       const size_t* windows = nullptr) try {
    while (true) {
      const Rung rung = now();
      Error lost;
      try {
        const TimedCall timed;
        auto done = work(rung);
        if (done || !is_of_device(done.error().code) || is_here(rung.where)) {
          return done;
        }
        lost = of_device(rung.where, std::move(done).error());
      } catch (const DeviceError& error) {
        if (is_here(rung.where) || is_stop(error)) {
          throw;  // the processor is not left, and where the user stops nobody failed
        }
        lost = of_device(rung.where, error.error());
      }
      failed(rung.number, lost, windows == nullptr ? 0 : *windows);
    }
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  // Lets go of the model where nothing was asked of it for so long, and nobody waits for it; what
  // it gave out is vouched for first.
  void unload_after(std::chrono::steady_clock::duration idle) {
    const std::lock_guard lock(mutex_);
    const auto unused = uses_->idle();
    if (!rung_ || !unused || *unused < idle) {
      return;
    }
    if (Status right = settle_rung(); !right) {
      owed_ = std::move(right).error();
    }
    for (Keeper* keeper : keepers_) {
      keeper->let_go();
    }
    if (rung_) {
      let_go();
    }
  }

  // Is told when the model is let go, until it is removed.
  void add(Keeper& keeper) {
    const std::lock_guard lock(mutex_);
    keepers_.push_back(&keeper);
  }

  void remove(Keeper& keeper) {
    const std::lock_guard lock(mutex_);
    std::erase(keepers_, &keeper);
  }

  // Where the model is; while it is let go, where it was.
  [[nodiscard]] StagePlaces where() const {
    const std::lock_guard lock(mutex_);
    return where_;
  }

  // Since when nothing was asked of it; none: it is not open.
  [[nodiscard]] std::optional<std::chrono::steady_clock::duration> idle() const {
    const std::lock_guard lock(mutex_);
    return rung_ ? std::optional(uses_->idle().value_or(std::chrono::steady_clock::duration{}))
                 : std::nullopt;
  }

  // To be called with each piece of work before anybody gets it, `what` being its name. Throws
  // DeviceError where the device is found to compute wrongly.
  void vouch(const Rung& rung, const std::string& what) {
    if (rung.canary == nullptr) {
      return;
    }
    rung.canary->vouch(what, rung.probe);
    if (!is_current(rung.number)) {
      rung.canary->settle(rung.probe);  // nobody does it later
    }
  }

  // Vouches for what was given out since the device was found right. Where it is wrong now that is
  // told and the device is left; an error where no other is allowed, also where that was found when
  // the model was let go.
  Status settle() {
    Rung rung;
    {
      const std::lock_guard lock(mutex_);
      if (owed_) {
        return std::unexpected(*std::exchange(owed_, std::nullopt));
      }
      reopen_where_lost();
      if (!rung_ || rung_->canary == nullptr) {
        return {};
      }
      rung = *rung_;
      rung.use = uses_->begin();
    }
    try {
      rung.canary->settle(rung.probe);
      return {};
    } catch (const DeviceError& error) {
      const std::lock_guard lock(mutex_);
      const bool failed = rung_ && rung_->number == rung.number && !is_stop(error);
      return failed ? abandon(error.error()) : Status{};
    }
  }

  // Rung `number` failed, with so many windows at work: moves to the next, unless another caller
  // has. Where its memory ran out that may be the same device with less to hold. Throws DeviceError
  // where there is none.
  void failed(uint64_t number, const Error& error, size_t windows) {
    const std::lock_guard lock(mutex_);
    reopen_where_lost();  // that another model's work ended the worker is no failure of this one
    if (!rung_ || rung_->number != number) {
      return;
    }
    const StagePlaces left = where_;
    const std::string doubted = doubted_now();
    const Error told = give_up(error, windows);
    const Status next = open_next();
    state_->openings().moved({.model = id_,
                              .from = devices_of(left),
                              .to = next ? devices_of(where_) : "",
                              .reason = told.message + types_that_change(left, where_),
                              .doubted = doubted});
    if (!next) {
      throw DeviceError(next.error());
    }
  }

  // Memory ran out where it is, and what was kept there was let go of: the work is done again
  // there. That is told, with `how` behind the reason.
  void made_room(const Rung& rung, const Error& error, const std::string& how) {
    const std::string here = devices_of(rung.where);
    state_->openings().moved({.model = id_,
                              .from = here,
                              .to = here,
                              .reason = of_device(rung.where, error).message + "; " + how});
  }

  [[nodiscard]] ModelId id() const { return id_; }

  // How many windows may be heard together where it is now; one at least.
  [[nodiscard]] size_t windows_together() const {
    return std::max<size_t>(1, state_->planner().windows_together(id_));
  }

 private:
  // Whether the call was abandoned because the user stops (WorkerSpec::stop).
  static bool is_stop(const DeviceError& error) {
    return error.error().code == ErrorCode::Cancelled;
  }

  // The same with the name of the device that it is of: a model does not know where it computes.
  static Error of_device(const StagePlaces& where, Error error) {
    const std::string called = is_here(where) ? devices_of(where) : worker_key(where);
    const bool is_named = std::ranges::any_of(
        std::array{called, devices_of(where)},
        [&](const auto& name) { return error.message.starts_with(name + " "); });
    if (!is_named) {
      error.message = called + " failed: " + error.message;
    }
    return error;
  }

  [[nodiscard]] bool is_current(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return rung_ && rung_->number == number;
  }

  // settle() of who has the lock.
  Status settle_rung() {
    if (rung_->canary == nullptr) {
      return {};
    }
    try {
      rung_->canary->settle(rung_->probe);
      return {};
    } catch (const DeviceError& error) {
      return is_stop(error) ? Status{} : abandon(error.error());
    }
  }

  // A device is trusted again.
  void go_where_it_is_better() {
    const auto better = state_->planner().plan(id_);
    if (!better || *better == rung_->where || !settle_rung() || !rung_) {
      return;
    }
    const StagePlaces from = rung_->where;
    let_go();
    if (open_next() && where_ != from) {
      state_->openings().moved(
          {.model = id_,
           .from = devices_of(from),
           .to = devices_of(where_),
           .reason = devices_of(where_) + " was proven again" + types_that_change(from, where_)});
    }
  }

  // Leaves a rung that is as it should be.
  void let_go() {
    rung_.reset();
    state_->openings().left(id_);
  }

  // The rung failed, and nothing is to be done again: the next is opened when it is needed.
  Status abandon(const Error& error) {
    const std::string doubted = doubted_now();
    const Error told = give_up(error, 0);
    const auto next = state_->planner().plan(id_);
    state_->openings().moved(
        {.model = id_,
         .from = devices_of(where_),
         .to = next ? devices_of(*next) : "",
         .reason = told.message + types_that_change(where_, next.value_or(where_)),
         .doubted = doubted,
         .redone = false});
    return next ? Status{} : std::unexpected(told);
  }

  // What nothing vouches for yet; "": all is.
  [[nodiscard]] std::string doubted_now() const {
    return rung_->canary ? rung_->canary->doubted() : std::string();
  }

  // The rung failed: its device is not trusted, unless its memory ran out, and whoever asks goes on
  // with less there or elsewhere, or hears why not. Returns the failure with what nothing vouches
  // for any more.
  Error give_up(const Error& error, size_t windows) {
    const std::string doubts = rung_->canary ? rung_->canary->doubts() : std::string();
    rung_.reset();
    if (error.code == ErrorCode::OutOfMemory) {
      return {error.code, error.message + doubts + state_->ran_out(id_, where_, error, windows)};
    }
    if (!state_->failed(id_, where_, error, doubts)) {
      const std::string failed = devices_of(where_) + " failed";
      std::string_view why = error.message;
      why.remove_prefix(why.starts_with(failed + ": ") ? failed.size() + 2 : 0);
      return {error.code, failed + " at another model's work: " + std::string(why) + doubts};
    }
    return {error.code, error.message + doubts};
  }

  // The worker ended with another model's work: that says nothing of this one's, and what it gave
  // out is vouched for as before.
  void reopen_where_lost() {
    if (state_->openings().take_lost_worker(id_) && rung_) {
      const StagePlaces where = rung_->where;
      const std::shared_ptr<Canary> canary = std::move(rung_->canary);
      rung_.reset();
      if (open_again() && rung_->where == where) {
        rung_->canary = canary;
      }
    }
  }

  Result<Opened> open_at(const StagePlaces& where, std::shared_ptr<Canary>& canary) try {
    if (!is_here(where)) {
      MYNAH_TRY(Reference reference, state_->context().reference(id_));
      canary = std::make_shared<Canary>(id_.group, worker_key(where), std::move(reference));
    }
    return open_(where, *state_);
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }

  // Of a model that was let go; where it cannot be where it was, that is told.
  Status open_again() {
    const StagePlaces left = where_;
    MYNAH_TRY_STATUS(open_next());
    if (refused_ && where_ != left) {
      state_->openings().moved({.model = id_,
                                .from = devices_of(left),
                                .to = devices_of(where_),
                                .reason = refused_->message + types_that_change(left, where_)});
    }
    return {};
  }

  Status open_next() {
    trust_ = state_->trust().regained();
    refused_.reset();
    while (true) {
      MYNAH_TRY(StagePlaces where, state_->planner().plan(id_));
      std::shared_ptr<Canary> canary;
      Result<Opened> opened = open_at(where, canary);
      if (opened) {
        state_->opened(id_, where);
        where_ = where;
        rung_ = Rung{.number = ++opened_,
                     .where = std::move(where),
                     .model = std::move(opened->model),
                     .probe = std::move(opened->probe),
                     .canary = std::move(canary),
                     .use = nullptr};
        return {};
      }
      if (is_here(where) || !is_of_device(opened.error().code)) {
        state_->openings().left(id_);
        return std::unexpected(std::move(opened).error());
      }
      refused_ = refused_.value_or(of_device(where, opened.error()));
      if (opened.error().code == ErrorCode::OutOfMemory) {
        state_->had_no_room(id_, where, opened.error());
        state_->openings().left(id_);
      } else {
        state_->failed(id_, where, opened.error(), "");
      }
    }
  }

  ModelId id_;
  std::shared_ptr<PlacementState> state_;
  Opener open_;
  mutable std::mutex mutex_;
  std::optional<Rung> rung_;
  StagePlaces where_;  // of the last rung
  std::vector<Keeper*> keepers_;
  uint64_t opened_ = 0;
  uint64_t trust_ = 0;            // Trust::regained() when it was planned
  std::optional<Error> refused_;  // by the first place that could not be opened when it was last
  std::optional<Error> owed_;     // found when the model was let go, and heard by nobody yet
  std::shared_ptr<Uses> uses_ = std::make_shared<Uses>();
};

// What the state may ask of a model, as long as somebody has it.
template <class Model>
ModelHooks hooks_of(const std::shared_ptr<Rungs<Model>>& rungs) {
  const std::weak_ptr<Rungs<Model>> weak = rungs;
  return {.model = rungs->id(),
          .of = weak,
          .settle = [weak]() -> Status {
            const auto held = weak.lock();
            return held ? held->settle() : Status{};
          },
          .unload_after =
              [weak](std::chrono::steady_clock::duration idle) {
                if (const auto held = weak.lock()) {
                  held->unload_after(idle);
                }
              },
          .idle = [weak]() -> std::optional<std::chrono::steady_clock::duration> {
            const auto held = weak.lock();
            return held ? held->idle() : std::nullopt;
          }};
}

}  // namespace mynah::place
