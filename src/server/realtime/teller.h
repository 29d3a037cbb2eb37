// Teller: events to a client of Realtime, in the names of today or those of the beta.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "server/http/outbox.h"

namespace mynah::server {

// Thread-safe.
class Teller {
 public:
  // `session`: what the ids of this client's events and items begin with.
  Teller(std::shared_ptr<Outbox> outbox, std::string session, bool beta)
      : outbox_(std::move(outbox)), session_(std::move(session)), beta_(beta) {}

  // Sends an event by its name of today; waits as Outbox::write() does. Those that the beta does
  // not have are not sent to its clients. Who left is told nothing.
  void tell(std::string_view type, nlohmann::ordered_json fields);

  // The event `error`. `event_id`: the client's, of the event that was wrong; "": none. `field`:
  // that is wrong; "": none. `code`: for programs; "": that of the error.
  void tell_error(const Error& error, const std::string& event_id, const std::string& field = {},
                  const std::string& code = {});

  // "item_" and what nobody else has.
  [[nodiscard]] std::string new_id(std::string_view kind);

  [[nodiscard]] bool beta() const { return beta_; }

 private:
  std::shared_ptr<Outbox> outbox_;
  std::string session_;
  bool beta_;
  std::atomic<uint64_t> ids_{0};
};

}  // namespace mynah::server
