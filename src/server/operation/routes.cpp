#include "server/operation/routes.h"

#include <memory>

#include "server/operation/places.h"
#include "server/operation/ready.h"
#include "server/operation/scrape.h"
#include "server/operation/waiting.h"

namespace mynah::server {

std::vector<Route> operation_routes(Service& service) {
  const auto ready = std::make_shared<Ready>(service);
  return {{.method = "GET",
           .path = "/health/ready",
           .help = "Whether models compute, or could be opened.",
           .handler = [ready](Exchange& exchange) { exchange.answer(ready->answer()); },
           .open = Open::ToAll},
          {.method = "GET",
           .path = "/metrics",
           .help = "What the server has done, for Prometheus.",
           .handler = metrics(service),
           .rights = {Right::Admin},
           .answers = "text/plain"},
          {.method = "GET",
           .path = "/v1/queue",
           .help = "What waits, and for how long.",
           .handler = queue(service)},
          {.method = "GET",
           .path = "/v1/devices",
           .help = "Where models compute, with the proof of it.",
           .handler = devices(service),
           .rights = {Right::Admin}}};
}

}  // namespace mynah::server
