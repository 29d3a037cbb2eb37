#include "server/elsewhere/questions.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "place/terms/device_name.h"

namespace mynah::server {

std::vector<std::byte> bytes_of(const Exchange& exchange) {
  const auto bytes = std::as_bytes(std::span(exchange.body().text));
  return {bytes.begin(), bytes.end()};
}

Status check_here(const std::string& model, const std::string& devices) {
  for (const std::string_view some : split(devices, '+')) {
    for (const std::string_view device : split(some, ',')) {
      if (place::is_mynah(std::string(device))) {
        return fail(ErrorCode::Unsupported,
                    fmt::format("{} computes by another mynah there, too, {}: name that one", model,
                                device));
      }
    }
  }
  return {};
}

}  // namespace mynah::server
