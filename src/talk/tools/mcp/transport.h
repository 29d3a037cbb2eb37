// How messages reach an MCP server and come from it.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::talk {

// A message that goes to a server.
struct McpOutgoing {
  using Clock = std::chrono::steady_clock;

  std::string text;
  // Whether an answer has come already, or is not wanted: who waits for it waits no more. Empty:
  // none is wanted.
  std::function<bool()> is_over;
  std::function<Clock::time_point()> deadline;  // of the answer; moves where progress is told
  std::stop_token stop;
};

class McpTransport {
 public:
  // Takes a text with messages, on any thread, one at a time or several.
  using Take = std::function<void(std::string_view text)>;

  McpTransport() = default;
  virtual ~McpTransport() = default;
  McpTransport(const McpTransport&) = delete;
  McpTransport& operator=(const McpTransport&) = delete;

  // Connects; `take` is called until close().
  [[nodiscard]] virtual Status start(Take take) = 0;

  // Sends. Where answers come on the way that a request went (HTTP) it returns once that has ended.
  // Environment where the server has gone.
  [[nodiscard]] virtual Status send(const McpOutgoing& outgoing) = 0;

  // The revision that was agreed on; what the server says unasked is heard from now on.
  virtual void on_agreed(const std::string& revision) = 0;

  // Why nothing more comes, with what the server said last; no error: more may come.
  [[nodiscard]] virtual Status alive() const = 0;

  // Ends the connection, and the server where it is a child.
  virtual void close() = 0;
};

}  // namespace mynah::talk
