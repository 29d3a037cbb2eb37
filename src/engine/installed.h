// Which of the store's models are taken, and what is said of one that cannot be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/surroundings.h"
#include "store/families.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::engine {

// The recogniser that is taken where none is named: the one that came last.
[[nodiscard]] std::optional<StoredModel> newest_recogniser(const Store& store);

// The same of language models; one without a chat template only where no other is here.
[[nodiscard]] std::optional<StoredModel> newest_language_model(const Store& store);

// The same of models for anything.
[[nodiscard]] std::optional<StoredModel> newest_model_for(const Store& store, FamilyKind kind);

// What a model is called that is named by its file or folder: the last name of that.
[[nodiscard]] std::string name_of_path(const std::string& path);

// The voice detector that the catalogue has.
[[nodiscard]] const CatalogueEntry& detector_entry();

// The voice detector that is taken where none is named: that of the catalogue, else the one that
// came last.
[[nodiscard]] std::optional<StoredModel> default_detector(const Store& store);

// The detector that a user names: default_detector() by "auto", else as Store::resolve().
[[nodiscard]] Result<ResolvedModel> resolve_detector(const Store& store, const std::string& name);

// An error of the store about a model that the user named. A name that the catalogue has is missing
// on this machine: Environment; one that nobody knows is a slip: Usage. What has a slash and is in
// no catalogue was meant as a path and stays NotFound.
[[nodiscard]] Error as_named(Error error, const std::string& name);

// What is wrong with a model of the store, with its name and the ways out: the user may not have
// named it, since the newest is taken. `flag` names another. Of a path (`name` is "") and of other
// than the file's faults as it was.
[[nodiscard]] Error as_stored(Error error, const std::string& name, std::string_view flag);

// A usage error where the store's model that is to find speech is one that writes text instead. A
// path's file tells itself.
[[nodiscard]] Status check_finds_speech(const Store& store, const ResolvedModel& model);

// The other way round: the voice detector is the model that users take for a recogniser. `example`
// names a better one.
[[nodiscard]] Status check_writes(const Store& store, const std::string& name,
                                  std::string_view example);

// What a model of the catalogue is better with (Silero for a recogniser, voices for Kokoro) and is
// not here; voices that a user imported are others.
[[nodiscard]] std::vector<const CatalogueEntry*> missing_companions(const Store& store,
                                                                    const CatalogueEntry& entry);

// Brings a model of the catalogue with the environment's proxies, watched by
// Surroundings::watch_pull.
Result<StoredModel> pull_from_catalogue(const Surroundings& surroundings,
                                        const CatalogueEntry& entry, PullOptions options);

}  // namespace mynah::engine
