// Models that are brought, opened, let go and removed by those who may (Right::Models).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// In which words a client is told of a pull.
struct PullWords {
  // The answer to one that is refused; `code`: for programs, "": that of the error.
  std::function<Response(const Error& error, const std::string& code)> refusal;
  // A line of one that ends so.
  std::function<std::string(const Error& error)> error_line;
  bool whole = false;  // only how it ended is told
};

// Pulls a model of the catalogue, and tells how far it is.
void pull_named(const Service& service, const std::string& name, const PullWords& words,
                Exchange& exchange);

// GET /v1/registry: what can be pulled. POST /v1/models and /v1/models/{name}: pulls it, with its
// progress. DELETE /v1/models/{name}. POST /v1/models/{name}/load and /unload.
[[nodiscard]] std::vector<Route> model_change_routes(Service& service);

}  // namespace mynah::server
