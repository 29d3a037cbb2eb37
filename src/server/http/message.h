// Messages of HTTP/1.1 as handlers see them: what was asked, and what is answered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/http/request_work.h"
#include "server/http/rights.h"

namespace mynah::server {

// What of a request does nothing here, in its answer.
inline constexpr const char* kIgnoredHeader = "X-Mynah-Ignored";

// Names and values in the order in which they came. Names are compared without regard to case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  void add(std::string name, std::string value);
  // In place of what there is of that name.
  void set(std::string name, std::string value);

  // The first value of that name; "": there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

// A request before its body. Path and query are decoded.
struct RequestHead {
  std::string method;  // "GET"
  std::string path;    // "/v1/models"
  std::vector<std::pair<std::string, std::string>> query;
  Headers headers;
  std::string peer;                     // the client's address, without a port; "": a Unix socket's
  std::string part;                     // of the path: what the route's braces took
  std::string owner{};                  // the name of the key that asks; "": no key is wanted
  Rights rights{};                      // what it may do
  std::string session{};                // what a client secret says of the socket it opens, JSON
  std::string route{};                  // the path of the table's row; "": there is none
  std::shared_ptr<RequestWork> work{};  // null: of what was refused before it was looked at

  // The value of the query by that name; none: it has none.
  [[nodiscard]] std::optional<std::string_view> asked(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";  // of the body
  std::string body;
  Headers headers{};
};

// "Not Found"; "Status" for a number that has no phrase.
[[nodiscard]] std::string_view reason_phrase(int status);

// The beginning of an answer's head: the status, the type and the fields, each on its line.
[[nodiscard]] std::string head_text(const Response& response);

// Path and query of a request's target, decoded. InvalidInput: it is none, or "%" stands in it
// without two digits behind it, or a zero byte.
[[nodiscard]] Status parse_target(std::string_view target, RequestHead& head);

// Pairs of application/x-www-form-urlencoded, decoded (URL Standard 5.1). InvalidInput as above.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(
    std::string_view text);

}  // namespace mynah::server
