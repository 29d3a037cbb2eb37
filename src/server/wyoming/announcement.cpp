#include "server/wyoming/announcement.h"

#include <string>

#include "base/host_name.h"

namespace mynah::server {

std::optional<Announcement> Announcement::of_wyoming(int port) {
  const auto program = find_program("avahi-publish");
  if (!program) {
    return std::nullopt;
  }
  // It waits for Avahi's daemon where that is not there, or comes again.
  auto process = Process::spawn({.program = *program,
                                 .arguments = {"--no-fail", "--service", "mynah on " + host_name(),
                                               "_wyoming._tcp", std::to_string(port)},
                                 .descriptors = {},
                                 .environment = inherited_environment()});
  if (!process) {
    return std::nullopt;
  }
  return Announcement(*std::move(process));
}

}  // namespace mynah::server
