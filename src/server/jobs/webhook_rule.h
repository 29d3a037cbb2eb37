// WebhookRule: who may be told of a job's end. A client names the address, and this server connects
// to it: what the client itself could not reach is not reached for it.
#pragma once

#include <string>
#include <vector>

#include "server/access/addresses.h"

namespace mynah::server {

class WebhookRule {
 public:
  // `allowed`: addresses, ranges and names of hosts that are private and may be told all the same.
  explicit WebhookRule(const std::vector<std::string>& allowed);

  // InvalidInput for what is none of these.
  [[nodiscard]] static Status check_allowed(const std::string& one);

  // Of what a client asks for. InvalidInput where it is no address of the web, or one of a host
  // that is known to be refused.
  [[nodiscard]] Status check(const std::string& url) const;

  // Whether `address`, which the host's name leads to, may be connected to.
  [[nodiscard]] bool may_connect(const std::string& host, const std::string& address) const;

 private:
  std::vector<AddressRange> ranges_;
  std::vector<std::string> hosts_;
};

}  // namespace mynah::server
