// Tls: the certificate that a server shows, and streams that are encrypted with it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "server/net/stream.h"
#include "server/net/tls_files.h"

namespace mynah::server {

// Thread-safe.
class Tls {
 public:
  // NotFound, InvalidInput: a file is not there, is none, or the two do not belong together.
  static Result<std::unique_ptr<Tls>> load(TlsFiles files);

  // Reads the files again: clients that come from now on see what they hold. On an error those that
  // were read before stay.
  Status reload();

  // A stream over the socket; a client that does not speak TLS is told so, and closed.
  [[nodiscard]] std::unique_ptr<Stream> stream(
      boost::asio::generic::stream_protocol::socket socket) const;

 private:
  explicit Tls(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace mynah::server
