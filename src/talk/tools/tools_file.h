// The file that says which tools there are: --tools FILE.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "talk/tools/mcp/server_tools.h"
#include "talk/tools/timers.h"
#include "talk/tools/tool.h"
#include "talk/tools/tool_box.h"

namespace mynah::talk {

class ToolsFile {
 public:
  // A tool that the file describes itself.
  struct Described {
    ToolFacts facts;
    std::vector<std::string> command;  // empty: somebody else answers it
  };

  // A JSON list of OpenAI's tools ({"type": "function", "function": {...}}, or the function alone),
  // or an object with any of "tools" (such a list), "mcpServers" and "own" (names of tools of
  // mynah's, or true for all). Tokens are read from the files that servers name. InvalidInput, with
  // the place, for what is none.
  static Result<ToolsFile> read(const std::string& path);
  static Result<ToolsFile> parse(const std::string& text, const std::string& name);

  [[nodiscard]] const std::vector<Described>& described() const { return described_; }

  [[nodiscard]] const std::vector<McpServerEntry>& servers() const { return servers_; }

  // Names of tools of mynah's that are wanted, each of which there is.
  [[nodiscard]] const std::vector<std::string>& own() const { return own_; }

  // What their user should know of it: that a token goes over a network for all to read.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] Status add_described(const nlohmann::ordered_json& list, const std::string& name);
  [[nodiscard]] Status add_servers(const nlohmann::ordered_json& servers, const std::string& name);
  [[nodiscard]] Status add_own(const nlohmann::ordered_json& own, const std::string& name);

  std::vector<Described> described_;
  std::vector<McpServerEntry> servers_;
  std::vector<std::string> own_;
  std::vector<std::string> notes_;
};

// What tools need of the program that has them.
struct ToolSurroundings {
  std::string timers;  // the file of timers and alarms
  std::string folder;  // --tools-dir; "": no files may be read
  // Makes a tool of one that the file describes without a command; empty: it is left out.
  std::function<std::shared_ptr<Tool>(const ToolFacts&)> described;
};

struct OpenedTools {
  ToolBox box;
  std::shared_ptr<Timers> timers;  // null: no tool sets any
};

// All tools of a file, and those of `folder`. Servers are started by the box's first refresh().
[[nodiscard]] Result<OpenedTools> open_tools(const ToolsFile& file,
                                             const ToolSurroundings& surroundings);

}  // namespace mynah::talk
