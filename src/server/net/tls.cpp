#include "server/net/tls.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>

namespace mynah::server {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

// Each record of TLS that opens a connection begins so (RFC 8446, 5.1: handshake).
constexpr unsigned char kHandshake = 22;

constexpr std::string_view kNoTls =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 48\r\n"
    "Connection: close\r\n\r\nthis port speaks HTTPS: wanted https://ADDRESS\r\n";

// HTTP/1.1 is what is spoken inside (RFC 7301); a client that offers others alone is not refused.
int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* length,
                    const unsigned char* offered, unsigned int offered_length, void* /*unused*/) {
  static constexpr std::array<unsigned char, 9> kHttp = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, length, kHttp.data(), kHttp.size(), offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, std::shared_ptr<ssl::context> context)
      : parts_(std::make_shared<Parts>(std::move(socket), std::move(context))) {}

  asio::awaitable<bool> open() override {
    const auto parts = parts_;
    error_code error;
    co_await parts->socket().async_wait(asio::socket_base::wait_read,
                                        asio::redirect_error(asio::use_awaitable, error));
    unsigned char first = 0;
    const size_t count = error ? 0
                               : parts->socket().receive(asio::buffer(&first, 1),
                                                         asio::socket_base::message_peek, error);
    if (error || count == 0) {
      co_return false;
    }
    if (first != kHandshake) {
      const asio::const_buffer told(kNoTls.data(), kNoTls.size());
      co_await asio::async_write(parts->socket(), told,
                                 asio::redirect_error(asio::use_awaitable, error));
      co_return false;
    }
    co_await parts->stream.async_handshake(ssl::stream_base::server,
                                           asio::redirect_error(asio::use_awaitable, error));
    parts->opened = !error;
    co_return parts->opened;
  }

  asio::awaitable<size_t> read_some(asio::mutable_buffer into) override {
    const auto parts = parts_;
    error_code error;
    parts->reading = true;
    const size_t count = co_await parts->stream.async_read_some(
        into, asio::redirect_error(asio::use_awaitable, error));
    parts->reading = false;
    if (parts->closing) {
      Parts::take_leave(parts);
    }
    co_return error ? 0 : count;
  }

  asio::awaitable<bool> write(asio::const_buffer bytes) override {
    const auto parts = parts_;
    error_code error;
    co_await asio::async_write(parts->stream, bytes,
                               asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }

  // Told as it is closed: to tell is to wait for the client's bytes (Asio 1.74), which are read.
  void end_writing() override {}

  void close(bool reset) override {
    const auto parts = parts_;
    if (reset || !parts->opened) {
      parts->close(reset);
      return;
    }
    // Two that wait for the client's bytes at once would wait for each other (Asio 1.74).
    parts->closing = true;
    if (parts->reading) {
      error_code ignored;  // it may be gone
      static_cast<void>(parts->socket().cancel(ignored));
    } else {
      Parts::take_leave(parts);
    }
  }

 private:
  // What lives as long as something is under way.
  struct Parts {
    Parts(Socket raw, std::shared_ptr<ssl::context> shown)
        : context(std::move(shown)),
          stream(std::move(raw), *context),
          farewell(stream.get_executor()) {}

    Socket& socket() { return stream.next_layer(); }

    // The other end is told that this was all (RFC 8446, 6.1), but is not waited for long.
    static void take_leave(const std::shared_ptr<Parts>& parts) {
      constexpr std::chrono::seconds kFarewell{2};
      parts->farewell.expires_after(kFarewell);
      parts->farewell.async_wait([parts](const error_code& /*error*/) { parts->close(false); });
      parts->stream.async_shutdown([parts](const error_code& /*error*/) {
        parts->farewell.cancel();  // which closes
      });
    }

    void close(bool reset) {
      error_code ignored;  // it may be closed already
      if (reset) {
        static_cast<void>(socket().set_option(asio::socket_base::linger(true, 0), ignored));
      } else {
        static_cast<void>(socket().shutdown(asio::socket_base::shutdown_both, ignored));
      }
      static_cast<void>(socket().close(ignored));
    }

    std::shared_ptr<ssl::context> context;
    ssl::stream<Socket> stream;
    asio::steady_timer farewell;
    bool opened = false;
    bool reading = false;
    bool closing = false;
  };

  std::shared_ptr<Parts> parts_;
};

std::unexpected<Error> wrong(const std::string& file, std::string_view wanted,
                             const error_code& error) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted {} as PEM, found: {}", file, wanted, error.message()));
}

}  // namespace

Result<std::unique_ptr<Tls>> Tls::load(TlsFiles files) {
  if (files.certificate.empty() || files.key.empty()) {
    return fail(ErrorCode::Usage, "wanted --tls-cert and --tls-key, found one of them");
  }
  std::unique_ptr<Tls> tls(new Tls(std::move(files)));
  MYNAH_TRY_STATUS(tls->reload());
  return tls;
}

Status Tls::reload() {
  for (const std::string& file : {files_.certificate, files_.key}) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      return fail(ErrorCode::Environment, fmt::format("there is no file {}", file));
    }
  }
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  ::SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
  error_code error;
  static_cast<void>(context->use_certificate_chain_file(files_.certificate, error));
  if (error) {
    return wrong(files_.certificate, "a certificate", error);
  }
  static_cast<void>(context->use_private_key_file(files_.key, ssl::context::pem, error));
  if (error) {
    return wrong(files_.key, "the key of " + files_.certificate, error);
  }
  const std::lock_guard lock(mutex_);
  context_ = context;
  return {};
}

std::unique_ptr<Stream> Tls::stream(Socket socket) const {
  const std::lock_guard lock(mutex_);
  return std::make_unique<TlsStream>(std::move(socket), context_);
}

}  // namespace mynah::server
