// Announcement: tells the network by Avahi that Wyoming is spoken here, so that Home Assistant
// finds it by itself.
#pragma once

#include <optional>
#include <utility>

#include "base/process.h"

namespace mynah::server {

// As long as it lives.
class Announcement {
 public:
  // None: avahi-publish, which does it, is not installed, or cannot be started.
  static std::optional<Announcement> of_wyoming(int port);

 private:
  explicit Announcement(Process process) : process_(std::move(process)) {}

  Process process_;
};

}  // namespace mynah::server
