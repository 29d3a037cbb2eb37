// ToolBox: the tools that a conversation has, offered to its model and run for it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/reply/reply.h"
#include "talk/tools/confirm.h"
#include "talk/tools/tool.h"

namespace mynah::talk {

// Where the language model is that is told what a tool answers.
enum class ModelPlace : uint8_t {
  Here,
  Elsewhere,  // on another machine: it is offered only what may leave this one
};

// What became of a call.
struct CallAnswer {
  std::string text;   // for the model
  bool ran = false;   // the tool was started
  std::string why{};  // for people, where it was not: "nobody is here to press a key"; "": it ran
};

// Tools are offered in the order in which they were added, and of two with one name the first keeps
// it: nothing that comes later can take the place of what was there. One thread at a time.
class ToolBox {
 public:
  void add(std::shared_ptr<Tool> tool);
  void add(std::unique_ptr<ToolSource> source);

  [[nodiscard]] bool empty() const { return own_.empty() && sources_.empty(); }

  // Asks the sources what they have now, side by side; to be called before each reply. What people
  // should know.
  [[nodiscard]] std::vector<std::string> refresh(const std::stop_token& stop);

  // As ChatRequest::tools has them, as of the last refresh().
  [[nodiscard]] ToolJson offered(ModelPlace place) const;

  // The tool that a model calls so; null: there is none.
  [[nodiscard]] Tool* find(std::string_view name) const;

  // Runs what a model called, unless it changes something and the user does not let it. What went
  // wrong stands in the answer; Cancelled alone is an error.
  [[nodiscard]] Result<CallAnswer> call(const ToolCall& call, ModelPlace place, Confirm& confirm,
                                        const ToolRun& run);

 private:
  struct Named {
    std::string name;
    std::shared_ptr<Tool> tool;
  };

  // Under a name that is free: its own, that with the source's in front, or one with a number.
  void name_tool(std::shared_ptr<Tool> tool, std::string_view source);

  std::vector<std::shared_ptr<Tool>> own_;
  std::vector<std::unique_ptr<ToolSource>> sources_;
  std::vector<Named> named_;
};

}  // namespace mynah::talk
