// The page at "/": files of web/, which are a part of the program.
#pragma once

#include <vector>

#include "server/http/route.h"

namespace mynah::server {

// A route for each file. A page that is shown may fetch and play from this server alone, and stands
// in no other page's frame.
// `framed`: a page of the same origin may show it in a frame, as Home Assistant does behind its
// ingress.
[[nodiscard]] std::vector<Route> page_routes(bool framed);

}  // namespace mynah::server
