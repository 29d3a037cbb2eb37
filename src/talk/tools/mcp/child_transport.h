// An MCP server that is a child process: a message a line on its standard input and output.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/process.h"
#include "talk/tools/mcp/transport.h"

namespace mynah::talk {

struct McpCommand {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside what it needs to run
};

// Its standard error is kept apart: the end of it is told where the server fails. It gets of the
// environment what programs need (HOME, PATH, LANG and the like) and what its entry names, no more:
// tokens of other programs stand there.
class ChildTransport final : public McpTransport {
 public:
  explicit ChildTransport(McpCommand command) : command_(std::move(command)) {}

  ~ChildTransport() override { close(); }

  [[nodiscard]] Status start(Take take) override;
  // Only puts it into a queue, which one thread writes.
  [[nodiscard]] Status send(const McpOutgoing& outgoing) override;

  void on_agreed(const std::string& /*revision*/) override {}

  [[nodiscard]] Status alive() const override;
  // Closes its input, then asks it and all it started to end, then kills them.
  void close() override;

 private:
  void exchange(const std::stop_token& stop);
  // What can be done without waiting; false: it is over.
  [[nodiscard]] bool write_some();
  [[nodiscard]] bool read_some();
  void read_stderr();
  void end(std::string why);

  McpCommand command_;
  Take take_;
  std::optional<Process> process_;
  UniqueFd input_;   // the server's
  UniqueFd output_;  // likewise
  UniqueFd errors_;  // likewise
  Pipe wake_;        // a byte: look at the queue
  std::string line_;
  size_t unasked_bytes_ = 0;  // since something was sent last

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable ended_;
  std::string queue_;
  bool closes_input_ = false;
  bool is_over_ = false;
  bool sent_ = false;
  std::string why_;
  std::string last_words_;

  std::jthread thread_;
};

}  // namespace mynah::talk
