// An MCP server at an address: "streamable HTTP". Requests are POSTed, answered as JSON or as a
// stream of events; what the server says unasked comes over a stream of its own.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "store/http_client.h"
#include "talk/tools/mcp/transport.h"

namespace mynah::talk {

struct McpAddress {
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string token;  // is sent as a bearer's; "": none
  HttpOptions options;
};

class HttpTransport final : public McpTransport {
 public:
  explicit HttpTransport(McpAddress address);

  ~HttpTransport() override { close(); }

  [[nodiscard]] Status start(Take take) override;
  // NotFound where the server forgot the session: who asks begins another.
  [[nodiscard]] Status send(const McpOutgoing& outgoing) override;
  void on_agreed(const std::string& revision) override;

  [[nodiscard]] Status alive() const override { return {}; }

  void close() override;

 private:
  struct Stream;

  [[nodiscard]] HttpQuestion question(std::string_view accept) const;
  [[nodiscard]] Status answer_of(HttpClient& client, const HttpQuestion& question, Stream& stream,
                                 const std::stop_token& stop);
  // Takes a stream up where it broke.
  [[nodiscard]] Status resume(Stream& stream, const std::stop_token& stop);
  // What an answer that is none says; a session that the server forgot is forgotten here, too.
  [[nodiscard]] Status refused(const HttpAnswer& answer);
  void listen(const std::stop_token& stop);

  McpAddress address_;
  Take take_;
  mutable std::mutex mutex_;  // guards what follows
  std::string session_;       // Mcp-Session-Id
  std::string revision_;      // MCP-Protocol-Version; "": none is agreed on
  std::jthread listener_;
};

}  // namespace mynah::talk
