#include "cli/chat/reply_printer.h"

#include <fmt/format.h>

#include "cli/chat/shown_text.h"

namespace mynah::cli {

// What a model writes is whatever it was trained on or told, by a file or a tool that somebody else
// wrote.
void ReplyPrinter::write(std::string_view text) {
  if (out_.is_terminal()) {
    out_.write(shown_text(text));
  } else {
    out_.write(text);
  }
  ended_line_ = text.ends_with('\n');
}

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
    write(delta.said.reasoning);
  }
  if (!delta.said.content.empty()) {
    end_thought();
    write(delta.said.content);
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

void ReplyPrinter::make_way() {
  if (out_.is_terminal()) {
    finish();
  }
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
