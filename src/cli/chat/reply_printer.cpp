#include "cli/chat/reply_printer.h"

#include <fmt/format.h>

namespace mynah::cli {

void ReplyPrinter::begin_thought() {
  if (!thinking_ && out_.is_terminal()) {
    out_.write("\x1b[2m");
  }
  thinking_ = true;
}

void ReplyPrinter::end_thought() {
  if (thinking_) {
    out_.write(out_.is_terminal() ? "\x1b[0m\n\n" : "\n\n");
  }
  thinking_ = false;
}

Status ReplyPrinter::on_delta(const ChatDelta& delta) {
  if (thoughts_ && !delta.said.reasoning.empty()) {
    begin_thought();
    out_.write(delta.said.reasoning);
    ended_line_ = delta.said.reasoning.ends_with('\n');
  }
  if (!delta.said.content.empty()) {
    end_thought();
    out_.write(delta.said.content);
    ended_line_ = delta.said.content.ends_with('\n');
  }
  out_.flush();
  if (out_.failed()) {
    return fail(ErrorCode::Io, "the reader of the reply has gone");
  }
  return {};
}

void ReplyPrinter::finish() {
  if (thinking_ && out_.is_terminal()) {
    out_.write("\x1b[0m");
  }
  thinking_ = false;
  if (!ended_line_) {
    out_.write("\n");
  }
  ended_line_ = true;
  out_.flush();
}

std::string timing_line(const Generated& spent) {
  const double rate = spent.written_ms > 0 && spent.tokens > 1
                          ? 1e3 * static_cast<double>(spent.tokens - 1) / spent.written_ms
                          : 0;
  return fmt::format("{} tokens read ({} kept), {} written, {:.1f} tokens/s, first after {:.0f} ms",
                     spent.prompt_tokens - spent.cached_tokens, spent.cached_tokens, spent.tokens,
                     rate, spent.queued_ms + spent.prompt_ms);
}

}  // namespace mynah::cli
