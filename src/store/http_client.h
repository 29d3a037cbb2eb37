// HttpClient: a server that is asked again and again over one connection. No redirects: whoever is
// asked answers himself.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/http.h"
#include "store/url.h"

namespace mynah {

class HttpConnection;

// One request. With a body it is a POST, else a GET.
struct HttpQuestion {
  std::string target;       // path and query
  std::string method = {};  // another one: "DELETE"; "": as above
  std::vector<std::pair<std::string, std::string>> headers;
  std::string type;                 // of the body
  std::span<const std::byte> body;  // until the answer came
  // Takes the head of an answer whose status is 200, before its body; an error ends the exchange.
  HttpHeadHandler on_head = {};
  // To be asked twice is no more than to be asked once, though it is a POST: it has something
  // computed, and changes nothing.
  bool repeatable = false;
  // Whether who asks has all of the body that he wants. From then on the rest of it is waited for
  // no longer than it takes to keep the connection. Empty: he wants all of it.
  std::function<bool()> is_enough = {};
};

struct HttpAnswer {
  HttpResponse head;
  std::string text;  // of an answer that is not 200: its first bytes
};

class HttpClient {
 public:
  HttpClient(Url url, HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Asks, with the connection that is open, or a new one where the server closed that meanwhile. If
  // it does so just then, before it answered anything, it is asked once more what may be asked
  // twice (RFC 9110, 9.2.2): what is no POST, or is repeatable. `on_body` takes the body of an
  // answer whose status is 200, piece by piece. Any status is a success. Errors as of http_get().
  // One thread at a time.
  Result<HttpAnswer> ask(const HttpQuestion& question, const HttpBodyHandler& on_body,
                         const std::stop_token& stop);

 private:
  // Over this connection, which is kept where it can be. `answered`: something came, so that nobody
  // asks again.
  Result<HttpAnswer> exchange(std::unique_ptr<HttpConnection> connection,
                              const HttpQuestion& question, const HttpBodyHandler& on_body,
                              const std::stop_token& stop, bool& answered);

  Url url_;
  HttpOptions options_;
  std::unique_ptr<HttpConnection> connection_;  // null: none is open
};

}  // namespace mynah
