// Addresses of clients: those of this machine, and ranges of others.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::server {

// "192.168.1.7", "::1"; no name and no port.
[[nodiscard]] bool is_address(std::string_view text);

// Where nobody but this machine is: 127.0.0.0/8, ::1, localhost, a Unix socket's path, or the ""
// that is the address of whoever came by one.
[[nodiscard]] bool is_this_machine(std::string_view host);

// "192.168.0.0/16", "fd00::/8", or one address.
class AddressRange {
 public:
  // InvalidInput where it is none.
  static Result<AddressRange> parse(std::string_view text);

  [[nodiscard]] bool contains(std::string_view address) const;

 private:
  std::array<unsigned char, 16> bytes_{};
  int bits_ = 0;  // that are the same for all of it, of 128
};

// Whether everybody may reach it: an address that is not this machine's, a network's own, or set
// apart for something else (IANA's special-purpose registries). False for what is no address.
[[nodiscard]] bool is_public(std::string_view address);

}  // namespace mynah::server
