// PlacementState: what all models of one process share, and what concerns several parts of it: a
// failure is of what is open and of what is trusted, an opening of what was planned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "place/state/housekeeper.h"
#include "place/state/openings.h"
#include "place/state/placement_context.h"
#include "place/state/planner.h"
#include "place/state/status_page.h"
#include "place/state/trust.h"
#include "place/state/wishes.h"

namespace mynah::place {

// Thread-safe. Locks are taken in this order: a model's own (Rungs), held while it is opened, moved
// or let go; the planner's turn, held while it plans and proves; then one of those of the parts,
// each held for moments, and no two at once.
class PlacementState {
 public:
  explicit PlacementState(PlacerOptions options);
  ~PlacementState();
  PlacementState(const PlacementState&) = delete;
  PlacementState& operator=(const PlacementState&) = delete;

  [[nodiscard]] PlacementContext& context() { return context_; }

  [[nodiscard]] Wishes& wishes() { return wishes_; }

  [[nodiscard]] Trust& trust() { return trust_; }

  [[nodiscard]] Openings& openings() { return openings_; }

  [[nodiscard]] Planner& planner() { return planner_; }

  // Ends what is done beside the work, for good: waits for what of it is under way. Not to be
  // called by that itself.
  void stop_tending();

  // A model was opened there; who preferred another device is told why, the first time.
  void opened(ModelId model, const StagePlaces& places);

  // A model failed where it was, or while it was loaded: workers on these devices end, and the
  // devices are not trusted. `doubts`: what nothing vouches for any more (Canary::doubts()).
  // False: the worker was lost before, by another model's work.
  bool failed(ModelId model, const StagePlaces& places, const Error& reason,
              const std::string& doubts);

  // Memory of `places` did not suffice to open a model. Others may hold it: that is no reason for
  // distrust. What is smaller, or elsewhere, is next.
  void had_no_room(ModelId model, const StagePlaces& places, const Error& error);

  // The same in the middle of work on `windows` together (0: it has none). Where they were several
  // half as many are heard together there from now on. Returns that, to be read behind the reason;
  // "": it was no matter of windows.
  std::string ran_out(ModelId model, const StagePlaces& places, const Error& error, size_t windows);

  // Vouches for what was given out and not vouched for yet. An error where a device was wrong, and
  // no other is allowed.
  Status settle();

  // When the proof of what a model's stage computes on was made, in seconds since 1970.
  [[nodiscard]] std::optional<int64_t> proven_at(ModelId model, Stage stage);

 private:
  [[nodiscard]] bool is_exclusive(const std::string& device);
  // What is done from time to time: letting go, proving again, telling `mynah ps`.
  void tend();
  [[nodiscard]] std::string status_text() const;

  PlacementContext context_;
  Wishes wishes_{context_};
  Trust trust_{context_, wishes_};
  Openings openings_{context_};
  Planner planner_{context_, wishes_, trust_, openings_};
  std::optional<StatusPage> page_;
  Housekeeper housekeeper_;  // the first to go
};

// "; as i8 instead of f16" where all stages stay where they are with other types; else "".
[[nodiscard]] std::string types_that_change(const StagePlaces& before, const StagePlaces& after);

}  // namespace mynah::place
