// How long a model is kept, as the request that uses it says.
#pragma once

#include "engine/engine.h"
#include "server/http/request_work.h"

namespace mynah::server {

// For as long as the request of this thread says.
template <class Lease>
void keep_as_asked(const Lease& lease) {
  if (const auto work = RequestWork::here(); work != nullptr && work->kept()) {
    engine::keep_alive(lease, work->kept()->idle);
  }
}

}  // namespace mynah::server
