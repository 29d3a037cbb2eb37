// One HTTP or HTTPS request whose body is handed on in pieces. Follows redirects, goes through
// proxies, checks certificates, and gives up when nothing comes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/url.h"

namespace mynah {

struct HttpOptions {
  Proxies proxies;
  std::string ca_file;      // certificates to trust besides the system's
  std::string fingerprint;  // "AB:CD:...": the SHA-256 of the one certificate to trust, whoever
                            // signed it; "": whichever is signed for the host
  std::string user_agent = "mynah";
  std::string local_socket;  // the path of a Unix socket, asked in place of the address's host
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds stall_timeout{30'000};  // without a single byte
  int max_redirects = 10;
  // Asked of each address that the host's name leads to ("192.0.2.1"): whether it may be connected
  // to. Empty: all may.
  std::function<bool(const std::string& address)> may_connect = {};
};

struct HttpRequest {
  std::string url;
  uint64_t range_start = 0;  // 0: the whole
  std::string if_range;      // strong ETag that the range belongs to; empty: no such condition
};

// A request that sends something and wants no more than to hear that it arrived.
struct HttpPost {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// The last answer of a chain of redirects, without its body.
struct HttpResponse {
  int status = 0;
  std::string url;                             // where it came from in the end, safe to print
  std::map<std::string, std::string> headers;  // of the last answer; names in lower case
  // Headers of the first answer: a hub puts a file's own digest there, before it sends one on to
  // the machine that holds the bytes.
  std::map<std::string, std::string> first_headers;

  // The value of a header of the last answer, or empty.
  [[nodiscard]] std::string header(std::string_view name) const;
  [[nodiscard]] std::optional<uint64_t> content_length() const;
};

// Takes the answer before its body; an error ends the exchange and is returned by http_get().
using HttpHeadHandler = std::function<Status(const HttpResponse&)>;
// Takes the next piece of the body. Only bodies of status 200 and 206 are read.
using HttpBodyHandler = std::function<Status(std::span<const std::byte>)>;

// Fails with Environment where the host cannot be found, reached or trusted; Io where the
// connection breaks, stalls or ends before the length it promised; InvalidInput for an answer that
// is not HTTP or a circle of redirects; Cancelled once stop is requested. Any status is a success
// here.
Result<HttpResponse> http_get(const HttpRequest& request, const HttpOptions& options,
                              const HttpHeadHandler& on_head, const HttpBodyHandler& on_body,
                              const std::stop_token& stop);

// The status of the answer, whose body is not read. Goes straight to the host, without a proxy, and
// follows no redirects. Fails as http_get() does, InvalidInput also where no address of the host
// may be connected to.
Result<int> http_post(const HttpPost& post, const HttpOptions& options,
                      const std::stop_token& stop);

}  // namespace mynah
