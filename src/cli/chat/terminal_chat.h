// A conversation at a terminal: lines are edited and remembered, words that begin with a slash are
// for mynah, calls of tools are shown and answered.
#pragma once

#include <string>

#include "cli/chat/conversation.h"
#include "cli/chat/tools_file.h"
#include "cli/command/verb.h"
#include "engine/chat.h"

namespace mynah::cli {

struct TerminalChatOptions {
  bool thoughts = false;  // are shown
  bool timings = false;   // likewise
  std::string loaded;     // the file that the conversation is from; "": it begins here
};

// Until the user leaves; returns the exit code.
Result<int> run_terminal_chat(Context& context, const engine::OpenedChat& opened,
                              Conversation conversation, const ToolsFile& tools,
                              TerminalChatOptions options);

}  // namespace mynah::cli
