// Families of models as they are loaded, a row a family (families.cpp). What is known of one before
// that is a row of store/families.cpp.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "place/terms/workload.h"
#include "speech/voice_loading.h"
#include "store/store.h"

namespace mynah::place {

struct FamilyLoader {
  std::string_view name;
  // Of a family that speaks; else null.
  Result<std::unique_ptr<const VoiceModel>> (*voice)(const VoiceModelFile& file,
                                                     const VoiceLoadOptions& options,
                                                     Backend& backend);
  // Loads what a model of the family brings, as its first use would, and lets it go; of a language
  // model reads the head.
  Status (*check)(const StoredModel& model, Backend& backend);
};

// Null where nobody knows the family, or nothing of it is loaded.
[[nodiscard]] const FamilyLoader* find_loader(std::string_view family);

}  // namespace mynah::place
