// TlsFiles: where a server's certificate is.
#pragma once

#include <string>

namespace mynah::server {

struct TlsFiles {
  std::string certificate;  // PEM: the server's own first, then those between it and a root
  std::string key;          // PEM, without a passphrase

  [[nodiscard]] bool any() const { return !certificate.empty() || !key.empty(); }
};

}  // namespace mynah::server
