// ConnectionSettings: what a client may send, and how long it may take.
#pragma once

#include <chrono>

#include "server/http/body.h"

namespace mynah::server {

struct ConnectionTimes {
  std::chrono::milliseconds head{20'000};   // from a request's first byte to the end of its head
  std::chrono::milliseconds stall{60'000};  // without a byte of a body, or taking one of an answer
  std::chrono::milliseconds idle{75'000};   // between two requests
  // Without a byte of an answer that is waited for: then come those of Exchange::fill_with().
  std::chrono::milliseconds silence{15'000};
};

struct ConnectionSettings {
  BodyLimits limits;
  ConnectionTimes times;
};

}  // namespace mynah::server
