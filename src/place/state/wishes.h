// Wishes: where stages may be and with weights of which type, by what the user named and by the
// profiles that are in use.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/state/placement_context.h"

namespace mynah::place {

// Thread-safe. Its lock is held for moments, and nothing is called meanwhile.
class Wishes {
 public:
  explicit Wishes(PlacementContext& context) : context_(context) {}

  // Where a model's stage may be, by the request and by the profile that places it.
  [[nodiscard]] StageDevices wanted(ModelId model, Stage stage) const;

  // Whether nothing was named for any of a model's stages that are in these places.
  [[nodiscard]] bool are_automatic(ModelId model, const StagePlaces& places) const;

  // Whether the device is named for any of a model's stages.
  [[nodiscard]] bool is_named(ModelId model, const std::string& device) const;

  // Devices that a model's stage may be on, whatever failed.
  [[nodiscard]] std::vector<std::string> candidates(ModelId model, Stage stage) const;

  // Whether any of a model's stages may be there.
  [[nodiscard]] bool may_be_on(ModelId model, const std::string& device) const;

  // The type that the user wants, else what is usual on a device; of no device ("") none.
  [[nodiscard]] std::optional<DType> storage_of(ModelId model, Stage stage,
                                                const std::string& device) const;

  // The type that any model of a kind has on a device where no profile says another.
  [[nodiscard]] std::optional<DType> usual_storage(StageGroup group,
                                                   const std::string& device) const;

  // A device with the storage type that a model has there when nobody says.
  [[nodiscard]] StageDevice usual_place(ModelId model, const std::string& device) const;

  // The types to prove on a device, the largest first: each where the one before had no room.
  [[nodiscard]] std::vector<std::optional<DType>> types_on(ModelId model,
                                                           const std::string& device) const;

  // Device where a profile is named that places nothing of this group: of whichever model of it.
  [[nodiscard]] Status check_profile(StageGroup group) const;

  // Places a model's stages as the profile says that is of it, where one is. Device where it no
  // longer holds, or was named and is of another; one that is in use and of another model is told
  // of and passed over.
  [[nodiscard]] Status apply_profile(const ExpectedModel& model);

  // The profile that places a model; null: none does.
  [[nodiscard]] const Profile* profile(ModelId model) const;

  // What the profile says of a stage that it places; null: nothing.
  [[nodiscard]] const Measurement* profiled(ModelId model, Stage stage) const;

  // The same of a model's stages that it puts on a device as a type of its choice.
  [[nodiscard]] std::vector<const Measurement*> profiled_on(ModelId model,
                                                            const std::string& device) const;

  // Where a model's stages are apart, and to be proven so, because a profile says so or they were
  // named so (Kind::may_be_apart): each on the first device that was named for it; else empty.
  [[nodiscard]] StagePlaces said_apart(ModelId model) const;

  // What is there now of what a profile was measured with; `digest`: of its model.
  [[nodiscard]] ProfileFacts profile_facts(const Profile& profile, std::string digest) const;

 private:
  // Where a profile puts this model's stages, where they are apart as it says; else empty.
  [[nodiscard]] StagePlaces profiled_apart(ModelId model) const;
  // The profile that is of this model: by its file; else by its name, since the file may have
  // changed; null: none.
  [[nodiscard]] const Profile* profile_of(const ModelFile& file, const std::string& digest) const;
  // Device where one that is in use for this model cannot be read; of which model others are that
  // cannot be read may not be known, and is told.
  [[nodiscard]] Status check_readable(const ModelFile& file);
  // The profile that places this model; null: none does.
  [[nodiscard]] Result<const Profile*> find_profile(const ExpectedModel& model);

  PlacementContext& context_;
  mutable std::mutex mutex_;
  std::map<ModelId, const Profile*> profiled_;  // of the context's options
  std::set<ModelId> told_of_profile_;           // that what is in use is of another model
  std::set<std::string> told_unreadable_;
};

// The storage type when nobody says: on the processor int8, which is several times as fast as a
// file's own f16 or f32 and is heard as well (bench/hear.py, bench/speak.py), on a card f16; the
// file's own where exact arithmetic is wanted, or a device that is there to check others against.
[[nodiscard]] std::optional<DType> fast_storage(Precision precision, const std::string& device);

}  // namespace mynah::place
