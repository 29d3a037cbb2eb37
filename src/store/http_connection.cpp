#include "store/http_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/unique_fd.h"
#include "store/base64.h"

namespace mynah {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

// SHA-256 of a certificate, as browsers show it: "AB:CD:...".
std::string fingerprint_of(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) {
    return {};
  }
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  }
  return text;
}

}  // namespace

HttpConnection::HttpConnection(const HttpOptions& options, const std::stop_token& stop)
    : options_(options), resolver_(loop_), stream_(loop_) {
  listen_to(stop);
}

void HttpConnection::listen_to(const std::stop_token& stop) {
  on_stop_.reset();
  stop_ = stop;
  on_stop_.emplace(stop, [this] {
    asio::post(loop_, [this] {
      resolver_.cancel();
      tcp().cancel();
    });
  });
}

std::unexpected<Error> HttpConnection::failure(ErrorCode code, std::string_view doing,
                                               const error_code& error) const {
  if (stop_.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  return fail(code,
              fmt::format("{}: {}", doing,
                          error == beast::error::timeout ? "no answer in time" : error.message()));
}

Status HttpConnection::open(const Url& url) {
  if (!options_.local_socket.empty()) {
    return connect_locally(options_.local_socket);
  }
  const std::string proxy_text = proxy_for(url, options_.proxies);
  if (proxy_text.empty()) {
    MYNAH_TRY_STATUS(connect(url.host, url.port));
    return url.scheme == "https" ? handshake(url) : Status{};
  }
  // Proxies are often written without a scheme: "proxy:3128".
  const auto proxy = parse_url(proxy_text.contains("://") ? proxy_text : "http://" + proxy_text);
  if (!proxy || proxy->scheme != "http") {
    return fail(
        ErrorCode::Environment,
        "wanted a proxy like http://host:port in the environment's *_proxy variables, found "
        "another form");
  }
  if (!proxy->user.empty()) {
    proxy_authorization_ = "Basic " + base64(std::as_bytes(std::span(proxy->user)));
  }
  MYNAH_TRY_STATUS(connect(proxy->host, proxy->port));
  if (url.scheme == "https") {
    MYNAH_TRY_STATUS(tunnel(url, *proxy));
    return handshake(url);
  }
  through_plain_proxy_ = true;
  return {};
}

bool HttpConnection::is_quiet() {
  char byte = 0;
  const ssize_t count = ::recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return buffer_.size() == 0 && count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

Status HttpConnection::connect(const std::string& host, const std::string& port) {
  asio::ip::tcp::resolver::results_type endpoints;
  // The resolver knows no deadline of its own.
  asio::steady_timer deadline(loop_, options_.connect_timeout);
  bool late = false;
  error_code error = run(options_.connect_timeout, [&](auto done) {
    deadline.async_wait([&](const error_code& cancelled) {
      if (!cancelled) {
        late = true;
        resolver_.cancel();
      }
    });
    resolver_.async_resolve(host, port, [&, done](const error_code& failed, auto results) {
      endpoints = std::move(results);
      deadline.cancel();
      done(failed);
    });
  });
  if (error) {
    return failure(ErrorCode::Environment, fmt::format("cannot find the host {}", host),
                   late ? make_error_code(beast::error::timeout) : error);
  }
  MYNAH_TRY_STATUS(allow(host, endpoints));
  error = run(options_.connect_timeout, [&](auto done) { tcp().async_connect(endpoints, done); });
  if (error) {
    return failure(ErrorCode::Environment, fmt::format("cannot connect to {}:{}", host, port),
                   error);
  }
  return {};
}

Status HttpConnection::connect_locally(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::Usage,
                fmt::format("wanted a socket's path of at most {} bytes, found {}",
                            sizeof(address.sun_path) - 1, path));
  }
  std::ranges::copy(path, address.sun_path);
  // One that listens takes a client at once, or has no room for it.
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail(ErrorCode::Environment,
                fmt::format("cannot connect to {}: {}", path, std::strerror(errno)));
  }
  // Bytes are the same over every kind of socket.
  error_code error;
  static_cast<void>(stream_.socket().assign(asio::ip::tcp::v4(), socket.get(), error));
  if (error) {
    return failure(ErrorCode::Environment, "cannot connect to " + path, error);
  }
  static_cast<void>(socket.release());
  return {};
}

Status HttpConnection::allow(const std::string& host,
                             asio::ip::tcp::resolver::results_type& endpoints) const {
  if (!options_.may_connect) {
    return {};
  }
  std::vector<asio::ip::tcp::endpoint> allowed;
  std::string refused;
  for (const auto& entry : endpoints) {
    const std::string address = entry.endpoint().address().to_string();
    if (options_.may_connect(address)) {
      allowed.push_back(entry.endpoint());
    } else {
      refused = address;
    }
  }
  if (allowed.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} leads to {}, which may not be connected to", host, refused));
  }
  endpoints =
      asio::ip::tcp::resolver::results_type::create(allowed.begin(), allowed.end(), host, "");
  return {};
}

Status HttpConnection::tunnel(const Url& url, const Url& proxy) {
  http::request<http::empty_body> message(http::verb::connect, url.host_and_port(), 11);
  message.set(http::field::host, url.host_and_port());
  message.set(http::field::user_agent, options_.user_agent);
  if (!proxy_authorization_.empty()) {
    message.set(http::field::proxy_authorization, proxy_authorization_);
  }
  error_code error =
      run(options_.connect_timeout, [&](auto done) { http::async_write(stream_, message, done); });
  http::response_parser<http::empty_body> parser;
  parser.skip(true);  // a CONNECT's answer has no body
  if (!error) {
    error = run(options_.connect_timeout,
                [&](auto done) { http::async_read_header(stream_, buffer_, parser, done); });
  }
  if (error) {
    return failure(ErrorCode::Environment,
                   fmt::format("the proxy {} does not answer", proxy.host_and_port()), error);
  }
  if (const auto status = parser.get().result_int(); status / 100 != 2) {
    return fail(ErrorCode::Environment,
                fmt::format("the proxy {} refuses to connect to {}: status {}",
                            proxy.host_and_port(), url.host_and_port(), status));
  }
  buffer_.clear();
  return {};
}

Status HttpConnection::trust() {
  error_code error;
  static_cast<void>(tls_context_.set_default_verify_paths(error));
  if (!options_.ca_file.empty()) {
    static_cast<void>(tls_context_.load_verify_file(options_.ca_file, error));
    if (error) {
      return fail(ErrorCode::Environment, fmt::format("cannot read the certificates in {}: {}",
                                                      options_.ca_file, error.message()));
    }
  }
  SSL_CTX_set_min_proto_version(tls_context_.native_handle(), TLS1_2_VERSION);
  return {};
}

Status HttpConnection::handshake(const Url& url) {
  MYNAH_TRY_STATUS(trust());
  tls_.emplace(std::move(stream_), tls_context_);
  tls_->set_verify_mode(asio::ssl::verify_peer);
  std::string shown;
  if (options_.fingerprint.empty()) {
    tls_->set_verify_callback(asio::ssl::host_name_verification(url.host));
  } else {
    tls_->set_verify_callback([this, &shown](bool /*signed*/, asio::ssl::verify_context& context) {
      X509_STORE_CTX* const now = context.native_handle();
      if (X509_STORE_CTX_get_error_depth(now) > 0) {
        return true;  // whoever signed it
      }
      shown = fingerprint_of(*X509_STORE_CTX_get_current_cert(now));
      return shown == options_.fingerprint;
    });
  }
  SSL_set_tlsext_host_name(tls_->native_handle(), url.host.c_str());
  const error_code error = run(options_.connect_timeout, [&](auto done) {
    tls_->async_handshake(asio::ssl::stream_base::client, done);
  });
  if (error && !shown.empty() && shown != options_.fingerprint) {
    return fail(ErrorCode::Environment,
                fmt::format("{} shows another certificate: its fingerprint is {}, wanted {}",
                            url.host, shown, options_.fingerprint));
  }
  if (error) {
    return failure(ErrorCode::Environment,
                   fmt::format("cannot make a secure connection to {}", url.host), error);
  }
  return {};
}

}  // namespace mynah
