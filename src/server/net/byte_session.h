// ByteSession: a client of a protocol that is no HTTP, over a connection of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/outbox.h"
#include "server/net/work_threads.h"

namespace mynah::server {

// Called from the network's thread; what takes long it has done by others.
class ByteSession {
 public:
  virtual ~ByteSession() = default;

  // Bytes came. False: no more are wanted, and the connection is closed once what the outbox holds
  // was sent.
  virtual bool take(std::string_view bytes) = 0;

  // So many bytes came that were not dealt with to the end: above a bound no more are read.
  [[nodiscard]] virtual size_t backlog() const = 0;

  // The number of the message that has begun and is not whole, 0 where none is: each may take a
  // while, and no longer.
  [[nodiscard]] virtual uint64_t message_under_way() const = 0;

  // The client is gone; the outbox was told, too.
  virtual void leave() = 0;
};

// Makes the session of a client that came; `peer`: its address, without a port. `wake` of the
// outbox is to be called when the backlog shrinks, too, which Outbox::write() does with nothing to
// write.
using ByteSessionMaker = std::function<std::shared_ptr<ByteSession>(
    const std::string& peer, const std::shared_ptr<Outbox>& outbox, WorkThreads& threads)>;

}  // namespace mynah::server
