// Windows that another mynah has heard here.
#pragma once

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// The question is a place::WindowsQuestion.
[[nodiscard]] Handler windows_for_others(Service& service);

// The question is a place::ProbeQuestion.
[[nodiscard]] Handler probe_for_others(Service& service);

}  // namespace mynah::server
