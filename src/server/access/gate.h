// Gate: who may ask a server. Pages of other sites may not, whatever key they have; others need a
// key where there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/route.h"

namespace mynah::server {

struct GateOptions {
  std::vector<std::string> keys;   // empty: none is needed
  std::vector<std::string> cors;   // origins of pages that may ask: "https://talk.example"
  std::vector<std::string> names;  // of this server besides those that are known: "mynah.lan"
};

// Const after it was made: any thread may ask.
class Gate {
 public:
  Gate(GateOptions options, ErrorTeller tell_error);

  // The answer to a request that a page of another site makes in somebody's browser, on whichever
  // route: 403. A Host that is no name of this server is another site's name that was made to lead
  // here (DNS rebinding): 421. None: it may be asked.
  [[nodiscard]] std::optional<Response> check_origin(const RequestHead& head) const;

  // The answer to a request without a key that is wanted: 401.
  [[nodiscard]] std::optional<Response> check_key(const RequestHead& head, Open open) const;

  // The answer to a browser that asks whether a page may ask.
  [[nodiscard]] Response preflight(const RequestHead& head, std::string_view methods) const;

  // Adds what a browser wants to see before it hands an answer to a page of those that may ask.
  void dress(const RequestHead& head, Response& response) const;

 private:
  [[nodiscard]] bool is_name_of_ours(std::string_view host) const;
  [[nodiscard]] bool may_ask(std::string_view origin, std::string_view host) const;

  GateOptions options_;
  std::vector<std::string> digests_;  // of the keys
  ErrorTeller tell_error_;
};

}  // namespace mynah::server
