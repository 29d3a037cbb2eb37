// whisper.cpp's server, as its clients know it (ggml-org/whisper.cpp, examples/server/README.md).
#pragma once

#include <vector>

#include "server/hear/heard_once.h"
#include "server/http/route.h"

namespace mynah::server {

// POST /inference; POST /load: from now on that model is meant by requests that name none.
[[nodiscard]] std::vector<Route> whisper_cpp_routes(const HearingParts& parts);

// {"error": "..."}, as that server tells errors.
[[nodiscard]] Response whisper_cpp_error(const Error& error);

}  // namespace mynah::server
