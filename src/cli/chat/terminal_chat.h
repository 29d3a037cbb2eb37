// A conversation at a terminal: lines are edited and remembered, words that begin with a slash are
// for mynah, calls of tools are shown and answered.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/chat/conversation.h"
#include "cli/command/verb.h"
#include "engine/chat.h"
#include "talk/memory/memory_store.h"
#include "talk/tools/tools_file.h"

namespace mynah::cli {

// Answers of tools that the user gives himself.
struct TypedAnswers {
  std::function<Result<std::string>(const std::string& tool)>
      read;  // set where there is a terminal
};

// A tool that the file of tools describes, and nothing runs: the user answers.
[[nodiscard]] std::shared_ptr<talk::Tool> make_typed_tool(talk::ToolFacts facts,
                                                          std::shared_ptr<TypedAnswers> answers);

struct TerminalChatOptions {
  bool thoughts = false;  // are shown
  bool timings = false;   // likewise
  std::string loaded;     // the file that the conversation is from; "": it begins here
  std::shared_ptr<TypedAnswers> typed = std::make_shared<TypedAnswers>();
  // What is said is kept there, and lines in no history beside it; null: in the history.
  talk::MemoryStore* memory = nullptr;
};

// Until the user leaves; returns the exit code.
Result<int> run_terminal_chat(Context& context, const engine::OpenedChat& opened,
                              Conversation conversation, talk::OpenedTools& tools,
                              TerminalChatOptions options);

}  // namespace mynah::cli
