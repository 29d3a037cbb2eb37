// Tools of an MCP server, as its user lets them be used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "talk/tools/mcp/child_transport.h"
#include "talk/tools/mcp/http_transport.h"
#include "talk/tools/mcp/session.h"
#include "talk/tools/tool.h"

namespace mynah::talk {

// What the user says of a tool. Without it a tool counts as changing something, whatever its server
// says of it, and what it answers stays on this machine.
struct ToolMarks {
  std::optional<bool> changes;
  std::optional<bool> may_leave;
};

struct McpServerEntry {
  std::string name;
  std::optional<McpCommand> command;  // one of the two
  std::optional<McpAddress> address;
  std::map<std::string, ToolMarks> marks;  // by the tool's own name; "*": of all others
  std::vector<std::string> offered;        // these alone; empty: all
  McpPatience patience;
};

// Starts with the first tools(). A server that ends is started again, three times at most.
class McpServerTools final : public ToolSource {
 public:
  explicit McpServerTools(McpServerEntry entry) : entry_(std::move(entry)) {}

  [[nodiscard]] const std::string& name() const override { return entry_.name; }

  [[nodiscard]] std::vector<std::shared_ptr<Tool>> tools(const std::stop_token& stop,
                                                         std::vector<std::string>& notes) override;

 private:
  // Notes what is wrong; false: there are no tools now.
  [[nodiscard]] bool connect(const std::stop_token& stop, std::vector<std::string>& notes);
  [[nodiscard]] bool list(const std::stop_token& stop, std::vector<std::string>& notes);
  void add(const McpToolFacts& facts, std::vector<std::string>& notes);

  McpServerEntry entry_;
  int starts_ = 0;
  std::shared_ptr<McpSession> session_;
  std::vector<std::shared_ptr<Tool>> tools_;
  std::map<std::string, McpToolFacts> first_seen_;
};

}  // namespace mynah::talk
