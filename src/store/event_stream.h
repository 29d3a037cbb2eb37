// EventStream: server-sent events (WHATWG HTML, "9.2 Server-sent events") of bytes that come in
// parts.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

struct ServerEvent {
  std::string name;  // "" is "message"
  std::string data;  // its lines, with '\n' between them
};

class EventStream {
 public:
  // Takes an event; an error ends the reading and is what push() returns.
  using Take = std::function<Status(const ServerEvent&)>;

  // `most_bytes`: of one line, and of the data of one event.
  explicit EventStream(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Hands on each event that these bytes complete. InvalidInput where a line or an event is longer
  // than may be: nothing is to be pushed then.
  [[nodiscard]] Status push(std::string_view bytes, const Take& take);

  // The id that the last event had, or one before it: where a stream that broke is taken up again
  // (Last-Event-ID). "": there was none.
  [[nodiscard]] const std::string& last_id() const { return last_id_; }

  // How long to wait before connecting again, where the server says so.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  [[nodiscard]] Status end_line(const Take& take);

  size_t most_bytes_;
  std::string line_;
  bool after_return_ = false;  // the last byte was \r: a \n now belongs to it
  bool begun_ = false;         // a byte-order mark may stand before this alone
  ServerEvent event_;
  bool has_data_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace mynah
