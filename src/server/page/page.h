// The page at "/": files of web/, which are a part of the program.
#pragma once

#include <vector>

#include "server/http/route.h"

namespace mynah::server {

// A route for each file. A page that is shown may fetch and play from this server alone, and stands
// in no other page's frame.
[[nodiscard]] std::vector<Route> page_routes();

}  // namespace mynah::server
