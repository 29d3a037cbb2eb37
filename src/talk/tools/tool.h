// Tool: something that a language model may have done, and what must be known of it before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace mynah::talk {

// Members keep their order: models are told of parameters as the tool's author wrote them.
using ToolJson = nlohmann::ordered_json;

// Bytes of one answer, unless who runs the tool wants fewer: some 16,000 tokens.
inline constexpr size_t kMostAnswerBytes = size_t{64} << 10;

struct ToolFacts {
  std::string name;  // as models call it: letters, digits, _ and -, at most 64
  std::string description;
  ToolJson parameters = ToolJson::object();  // the JSON schema of an object
  std::string origin;                        // whose it is, for people: "mynah", "MCP server house"
  // The function as its author wrote it for models, where it has more than the above; null: it has
  // not.
  ToolJson told = nullptr;
  // Whether it does more than to look: then it runs only once a key was pressed for that call.
  bool changes = true;
  // Whether nobody notices that it ran: it asks nothing outside this program and its files, so that
  // it may run for a reply that may be thrown away.
  bool unnoticed = false;
  // Whether what it answers may be told a language model on another machine.
  bool may_leave = false;
};

// How a tool is run once.
struct ToolRun {
  std::stop_token stop;
  size_t most_bytes = kMostAnswerBytes;
  // Is told how far it has come, in words; empty: nobody wants to know.
  std::function<void(std::string_view)> on_progress;
};

class Tool {
 public:
  Tool() = default;
  virtual ~Tool() = default;
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  [[nodiscard]] virtual const ToolFacts& facts() const = 0;

  // What a call would do, for people who are asked to let it: the name with its arguments, unless
  // the tool knows better.
  [[nodiscard]] virtual std::string shown(const ToolJson& arguments) const;

  // Does it. `arguments` is an object of the model's, which no schema vouches for. Cancelled once
  // stop is requested; any other error is told to the model, which may call better then.
  [[nodiscard]] virtual Result<std::string> run(const ToolJson& arguments, const ToolRun& run) = 0;
};

// Tools that may become others while they are used.
class ToolSource {
 public:
  ToolSource() = default;
  virtual ~ToolSource() = default;
  ToolSource(const ToolSource&) = delete;
  ToolSource& operator=(const ToolSource&) = delete;

  // What they come from, to tell apart what has the same name: "house".
  [[nodiscard]] virtual const std::string& name() const = 0;

  // The tools that there are now. What people should know (that the source is gone, that a tool is
  // not what it was) is added to `notes`, each once.
  [[nodiscard]] virtual std::vector<std::shared_ptr<Tool>> tools(
      const std::stop_token& stop, std::vector<std::string>& notes) = 0;
};

// An argument that is a text; "": it is not there. InvalidInput where it is something else.
[[nodiscard]] Result<std::string> text_argument(const ToolJson& arguments, std::string_view name);

// The beginning of a text that has room, cut between code points; what is no UTF-8 becomes U+FFFD.
// Who reads it is told how much is missing.
[[nodiscard]] std::string bounded_answer(std::string_view text, size_t most_bytes);

}  // namespace mynah::talk
