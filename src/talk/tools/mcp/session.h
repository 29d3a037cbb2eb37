// McpSession: a conversation with an MCP server, from the greeting on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "talk/tools/mcp/message.h"
#include "talk/tools/mcp/transport.h"
#include "talk/tools/tool.h"

namespace mynah::talk {

// A tool as its server tells of it.
struct McpToolFacts {
  std::string name;
  std::string description;
  ToolJson schema = ToolJson::object();

  bool operator==(const McpToolFacts&) const = default;
};

// How long is waited.
struct McpPatience {
  std::chrono::milliseconds greeting{60'000};  // a command may have to be fetched first
  std::chrono::milliseconds listing{30'000};
  std::chrono::milliseconds call{60'000};      // since the call, or since it told of progress last
  std::chrono::milliseconds longest{600'000};  // of a call, whatever it tells
};

inline constexpr size_t kMostMcpTools = 512;
inline constexpr size_t kMostMcpPages = 64;
inline constexpr size_t kMostDescriptionBytes = 4096;
inline constexpr size_t kMostSchemaBytes = size_t{64} << 10;

// Any number of threads may use it.
class McpSession {
 public:
  // Greets. Environment where the server does not start, answer or speak a revision that is known
  // here; as McpTransport::start() and request() else.
  static Result<std::shared_ptr<McpSession>> open(std::unique_ptr<McpTransport> transport,
                                                  McpPatience patience,
                                                  const std::stop_token& stop);
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // All pages. What is longer than may be is left out or cut, and told in `notes`.
  [[nodiscard]] Result<std::vector<McpToolFacts>> list_tools(const std::stop_token& stop,
                                                             std::vector<std::string>& notes);

  // Whether the server said that its tools are others; forgets that.
  [[nodiscard]] bool take_changed();

  // Has a tool run. The parts of its answer that are text; of others what they are. InvalidInput
  // with the text where the tool failed. Who asks bounds it. What is cancelled the server is told.
  [[nodiscard]] Result<std::string> call(const std::string& tool, const ToolJson& arguments,
                                         const ToolRun& run);

  [[nodiscard]] Status ping(const std::stop_token& stop);

  // As McpTransport::alive().
  [[nodiscard]] Status alive() const { return transport_->alive(); }

  [[nodiscard]] const std::string& revision() const { return revision_; }

 private:
  using Clock = std::chrono::steady_clock;

  // A request that waits for its answer.
  struct Pending {
    bool is_over = false;
    McpMessage answer;
    Clock::time_point deadline;
    Clock::time_point last;  // that the deadline may become
    std::chrono::milliseconds patience{};
    const std::function<void(std::string_view)>* on_progress = nullptr;
  };

  struct Wish {
    std::chrono::milliseconds patience{};
    std::chrono::milliseconds longest{};
    std::stop_token stop;
    const std::function<void(std::string_view)>* on_progress = nullptr;
    bool may_cancel = true;
  };

  explicit McpSession(std::unique_ptr<McpTransport> transport, McpPatience patience);

  [[nodiscard]] Status greet(const std::stop_token& stop);
  // The result. InvalidInput where the server refuses, in its words; Environment where it has gone;
  // Io where nothing came in time.
  [[nodiscard]] Result<ToolJson> request(std::string_view method, const ToolJson& params,
                                         const Wish& wish);
  [[nodiscard]] Result<ToolJson> request_of_session(std::string_view method, const ToolJson& params,
                                                    const Wish& wish);
  [[nodiscard]] Status wait(Pending& pending, const Wish& wish);
  void take(std::string_view text);
  void take_message(McpMessage message);
  void take_progress(const ToolJson& params);
  void send_aside(std::string text);
  // One page; the cursor of the next, "" behind the last.
  [[nodiscard]] Result<std::string> add_page(const ToolJson& page, std::vector<McpToolFacts>& tools,
                                             std::vector<std::string>& notes) const;

  McpPatience patience_;
  std::string revision_;
  bool has_tools_ = false;

  std::mutex mutex_;  // guards what follows
  std::condition_variable_any woken_;
  std::map<int64_t, std::shared_ptr<Pending>> pending_;
  int64_t last_id_ = 0;
  bool changed_ = false;
  std::string last_fault_;  // of a message that could not be read

  std::unique_ptr<McpTransport> transport_;  // the first to go: its threads use the rest
};

// The text of what a tool answered: its parts that are text, and of others what they are.
[[nodiscard]] std::string mcp_content_text(const ToolJson& result);

}  // namespace mynah::talk
