// ReplyPrinter: a reply in the terminal as it comes.
#pragma once

#include <string>
#include <string_view>

#include "chat/chat_request.h"
#include "cli/command/stream.h"

namespace mynah::cli {

class ReplyPrinter final : public ChatObserver {
 public:
  // What is for the user goes to `out`, to a terminal as shown_text() has it. Thoughts are shown
  // there, dimmed, where `thoughts` says so.
  ReplyPrinter(OutputStream& out, bool thoughts) : out_(out), thoughts_(thoughts) {}

  Status on_delta(const ChatDelta& delta) override;

  // Ends the line.
  void finish();

  // Ends it where a message would stand in the middle of it: at a terminal.
  void make_way();

 private:
  void write(std::string_view text);
  void begin_thought();
  void end_thought();

  OutputStream& out_;
  bool thoughts_;
  bool thinking_ = false;
  bool ended_line_ = true;
};

// "12 tokens read (1488 kept), 87 written, 214 tokens/s, first after 35 ms".
[[nodiscard]] std::string timing_line(const Generated& spent);

}  // namespace mynah::cli
