// A voice that another mynah speaks with.
#pragma once

#include <memory>

#include "base/result.h"
#include "place/terms/workload.h"
#include "place/workers/hosted_model.h"
#include "speech/voice_model.h"

namespace mynah::place {

// The model as another mynah has it, of the same files. Has it opened there. Errors are the
// other's.
[[nodiscard]] Result<std::unique_ptr<const VoiceModel>> open_voice_elsewhere(
    const VoiceModelFile& file, std::unique_ptr<MynahCaller> mynah);

}  // namespace mynah::place
