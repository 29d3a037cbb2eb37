#include "server/wyoming/announcement.h"

#include <array>
#include <string>

#include <unistd.h>

namespace mynah::server {

std::optional<Announcement> Announcement::of_wyoming(int port) {
  const auto program = find_program("avahi-publish");
  if (!program) {
    return std::nullopt;
  }
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));  // without a name "mynah on "
  // It waits for Avahi's daemon where that is not there, or comes again.
  auto process = Process::spawn(
      {.program = *program,
       .arguments = {"--no-fail", "--service", "mynah on " + std::string(host.data()),
                     "_wyoming._tcp", std::to_string(port)},
       .descriptors = {},
       .environment = inherited_environment()});
  if (!process) {
    return std::nullopt;
  }
  return Announcement(*std::move(process));
}

}  // namespace mynah::server
