// What a service manager is told of this process (sd_notify(3)).
#pragma once

#include <string_view>

#include "base/environment.h"

namespace mynah::cli {

// "READY=1", "RELOADING=1", "STOPPING=1", with lines beside it. Nothing where nobody asked to be
// told: NOTIFY_SOCKET is not set.
void tell_service_manager(const Environment& environment, std::string_view state);

// "RELOADING=1" with the time that goes with it.
void tell_of_reload(const Environment& environment);

}  // namespace mynah::cli
