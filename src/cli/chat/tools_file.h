// Tools that a user offers a model: described in a file, answered by the user, or by a command that
// he lets run.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "chat/reply/reply.h"

namespace mynah::cli {

class ToolsFile {
 public:
  // A JSON list of OpenAI's tools ({"type": "function", "function": {...}}, or the function alone),
  // each of which may have a "command": a program with its arguments, as a list, or a line for
  // /bin/sh. InvalidInput, with the place, for what is none.
  static Result<ToolsFile> read(const std::string& path);
  static Result<ToolsFile> parse(const std::string& text, const std::string& name);

  // As models are told of them.
  [[nodiscard]] const nlohmann::ordered_json& tools() const { return tools_; }

  // What would be run for a tool, as it is shown; "": the user answers.
  [[nodiscard]] std::string command_of(const std::string& tool) const;

  // Runs a tool's command with the call's arguments on its standard input; what it wrote to
  // standard output, with how it ended where that was not well. Standard error is the terminal's.
  [[nodiscard]] Result<std::string> run(const ToolCall& call, const std::stop_token& stop) const;

 private:
  struct Command {
    std::string tool;
    std::vector<std::string> words;
  };

  [[nodiscard]] const Command* find(const std::string& tool) const;

  nlohmann::ordered_json tools_ = nlohmann::ordered_json::array();
  std::vector<Command> commands_;
};

}  // namespace mynah::cli
