// Gate: who may ask a server. Pages of other sites may not, whatever key they have; others need a
// key where there is one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/client_secrets.h"
#include "server/access/guesses.h"
#include "server/access/key_ring.h"
#include "server/http/route.h"

namespace mynah::server {

struct GateOptions {
  std::vector<std::string> cors;   // origins of pages that may ask: "https://talk.example"
  std::vector<std::string> names;  // of this server besides those that are known: "mynah.lan"
};

// Any thread may ask.
class Gate {
 public:
  // `keys` and `secrets` must outlive it.
  Gate(GateOptions options, KeyRing& keys, ClientSecrets& secrets, ErrorTeller tell_error);

  // The answer to a request that a page of another site makes in somebody's browser, on whichever
  // route: 403. A Host that is no name of this server is another site's name that was made to lead
  // here (DNS rebinding): 421. None: it may be asked.
  [[nodiscard]] std::optional<Response> check_origin(const RequestHead& head) const;

  // Lets a request in, and writes into its head who asks; it is over with leave(). Otherwise the
  // answer: 401 without a key that is wanted, 403 where the key has not the rights, 429 where its
  // limits are reached, or where many wrong keys came from that address.
  // `socket`: it is for a WebSocket, which a client secret opens, too.
  [[nodiscard]] std::optional<Response> admit(RequestHead& head, Open open, Rights wanted,
                                              bool socket = false);
  // What is heard and spoken for a request of that owner counts for its limits.
  void count_audio(RequestWork& work) const;
  // The request is over.
  void leave(const RequestHead& head);

  // The answer to a browser that asks whether a page may ask.
  [[nodiscard]] Response preflight(const RequestHead& head, std::string_view methods) const;

  // Adds what a browser wants to see before it hands an answer to a page of those that may ask.
  void dress(const RequestHead& head, Response& response) const;

 private:
  [[nodiscard]] bool is_name_of_ours(std::string_view host) const;
  [[nodiscard]] bool may_ask(std::string_view origin, std::string_view host) const;

  [[nodiscard]] Response refusal(const RequestHead& head, int status, ErrorCode code,
                                 std::string message) const;
  // Come again then.
  [[nodiscard]] Response later(const RequestHead& head, std::chrono::milliseconds wait,
                               const std::string& message) const;

  GateOptions options_;
  // Whose key that is, or whom a client secret stands for.
  [[nodiscard]] std::optional<KeyRing::Owner> owner_of(std::string_view key, RequestHead& head,
                                                       bool socket);

  KeyRing& keys_;
  ClientSecrets& secrets_;
  std::unique_ptr<Guesses> guesses_ = std::make_unique<Guesses>();
  ErrorTeller tell_error_;
};

}  // namespace mynah::server
