#include "server/http/events.h"

#include <fmt/format.h>

namespace mynah::server {

Response event_stream() {
  Response response;
  response.type = "text/event-stream";
  response.headers.set("Cache-Control", "no-cache");
  response.headers.set("X-Accel-Buffering", "no");  // nginx's
  return response;
}

std::string event(std::string_view json) {
  return fmt::format("data: {}\n\n", json);
}

}  // namespace mynah::server
