// Trust: which devices are out of the question and why: what failed, what was too full, what the
// rules rule out; and when that is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "place/plans/plan.h"
#include "place/state/placement_context.h"
#include "place/state/wishes.h"

namespace mynah::place {

// A device that was too full for a model.
struct DeviceNoRoom {
  std::string device;
  NoRoom no_room;
};

// Thread-safe. Its lock is held for moments, and nothing is called meanwhile: proofs go on without.
class Trust {
 public:
  // Why a device is not to be used for now.
  struct Refusal {
    std::string why;       // to be read behind its name; "": it may be used
    bool no_room = false;  // for want of memory
  };

  Trust(PlacementContext& context, const Wishes& wishes) : context_(context), wishes_(wishes) {}

  // Whether a device is out of the question for a model in this type.
  [[nodiscard]] Refusal refusal(ModelId model, const StageDevice& where);

  // The cards that nothing can compute on, or the one entry that says why there is none.
  [[nodiscard]] std::vector<OtherDevice> unusable_cards();

  // The devices of `places` that are not the processor are not trusted from now on.
  void distrust(const StagePlaces& places, const Error& reason);

  // A device had no room for a model in this type: that is no reason for distrust, and is tried
  // again later. apart: its stages had none there together.
  void note_no_room(ModelId model, const StageDevice& where, NoRoom no_room);
  void note_no_room_apart(ModelId model, const StagePlaces& places, const Error& error);

  // Whether stages that had no room apart are to be left alone.
  [[nodiscard]] bool waits_for_room_apart(ModelId model, const StagePlaces& places) const;

  // A device that had too little memory for a model.
  [[nodiscard]] std::optional<DeviceNoRoom> no_room(ModelId model) const;

  // A model's work ran out of memory there: no more than so many windows together from now on.
  void limit_windows(ModelId model, const StagePlaces& places, size_t windows);

  // How many of `windows` together the places of a model have memory for, as far as is known.
  [[nodiscard]] size_t most_windows(ModelId model, const StagePlaces& places, size_t windows) const;

  // Grows whenever a device is trusted again that failed.
  [[nodiscard]] uint64_t regained() const { return regained_.load(); }

  // Proves in the background what failed in this process, and what was too full, once their pauses
  // are over. One call at a time.
  void prove_again();

 private:
  // A device that was too full for a model, and since when.
  struct FullDevice {
    NoRoom no_room;
    Distrust since;
  };

  // Whether another mynah is out of the question for a model.
  [[nodiscard]] Refusal mynah_refusal(ModelId model, const std::string& device);
  // Why a card that is named is not among what was found, to be read behind its name.
  [[nodiscard]] std::string why_not_here();
  void forget_computed();
  [[nodiscard]] DeviceProof prove_behind(const ModelFile& file, const StageDevice& where);
  // Why a device that failed is not to be used yet; "": every model that may be there passed.
  [[nodiscard]] std::string why_still_excluded(const std::string& device);
  void prove_failed_again();
  void try_full_again();

  PlacementContext& context_;
  const Wishes& wishes_;
  mutable std::mutex mutex_;
  // Devices that failed in this process. Also kept in files, as long as those can be written.
  std::map<std::string, Distrust> excluded_;
  std::map<std::pair<ModelId, StageDevice>, FullDevice> no_room_;      // for weights of this type
  std::map<std::pair<ModelId, StagePlaces>, Distrust> no_room_apart_;  // for stages that are apart
  std::map<std::pair<ModelId, std::string>, size_t> most_windows_;     // where memory ran out
  std::atomic<uint64_t> regained_{0};
};

}  // namespace mynah::place
