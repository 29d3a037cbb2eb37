// Windows that another mynah hears.
#pragma once

#include <memory>
#include <stop_token>

#include "base/result.h"
#include "place/terms/workload.h"
#include "place/workers/hosted_model.h"
#include "speech/window_model.h"

namespace mynah::place {

// The model as another mynah has it: of the same file, which is read for its header alone. Has it
// opened there. Errors are the other's: of its model, its network, its refusal.
[[nodiscard]] Result<std::shared_ptr<const WindowModel>> open_windows_elsewhere(
    const WindowsFile& file, std::unique_ptr<MynahCaller> mynah, const std::stop_token& stop);

}  // namespace mynah::place
