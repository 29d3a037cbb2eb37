// whisper.cpp's server, as its clients know it (ggml-org/whisper.cpp, examples/server/README.md).
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /inference.
[[nodiscard]] Handler whisper_cpp_inference(Service& service, std::string media_program);

// POST /load: from now on that model is meant by requests that name none.
[[nodiscard]] Handler whisper_cpp_load(Service& service);

// {"error": "..."}, as that server tells errors.
[[nodiscard]] Response whisper_cpp_error(const Error& error);

}  // namespace mynah::server
