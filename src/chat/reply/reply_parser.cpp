#include "chat/reply/reply_parser.h"

#include <string>
#include <utility>

#include "chat/reply/harmony_reply.h"
#include "chat/reply/marked_reply.h"
#include "chat/reply/reply_markers.h"
#include "chat/reply/reply_writer.h"
#include "chat/reply/tool_schemas.h"
#include "text/utf8.h"

namespace mynah {
namespace {

const Spellings& controls_of(const ReplyOptions& options) {
  static const Spellings none;
  return options.control_markers == nullptr ? none : *options.control_markers;
}

ReplyFormat with_controls(ReplyFormat format, const Spellings& controls) {
  CallFormat& calls = format.calls;
  for (auto* const markers : {&calls.section_begin, &calls.section_end, &calls.begin, &calls.end,
                              &calls.separator, &calls.id_separator, &format.thoughts.dropped}) {
    for (std::string& marker : *markers) {
      marker = mark_controls(marker, controls);
    }
  }
  for (std::string* const marker :
       {&calls.function_begin, &calls.name_end, &calls.parameter_begin, &calls.parameter_name_end,
        &calls.value_begin, &calls.parameter_end, &calls.function_end, &format.thoughts.begin,
        &format.thoughts.end}) {
    *marker = mark_controls(*marker, controls);
  }
  return format;
}

}  // namespace

struct ReplyParser::State {
  State(const ReplyFormat& as_written, const ReplyOptions& options)
      : format(with_controls(as_written, controls_of(options))),
        tools(options.tools),
        writer(options.id_seed) {
    if (format.calls.shape == CallShape::Harmony) {
      reader = std::make_unique<HarmonyReply>(controls_of(options), writer);
    } else {
      reader = std::make_unique<MarkedReply>(format, tools, writer);
    }
    pending = mark_controls(replace_invalid_utf8(options.prompt_end), controls_of(options));
    read(false);
    reader->prompt_ends();
    writer.forget_text();
    if (options.lone_calls && !tools.empty()) {
      writer.watch_for_call(tools);
    }
  }

  void read(bool last) { pending.erase(0, reader->take(pending, last)); }

  // Moves what is whole of the bytes to the stream, or with `all` what is not, too.
  void move_bytes(bool all) {
    const size_t kept = all ? 0 : incomplete_utf8_tail(bytes);
    const size_t whole = bytes.size() - kept;
    pending += replace_invalid_utf8(std::string_view(bytes).substr(0, whole));
    bytes.erase(0, whole);
  }

  ReplyFormat format;
  ToolSchemas tools;
  ReplyWriter writer;
  std::unique_ptr<ReplyReader> reader;
  std::string bytes;    // at their end the begin of a code point
  std::string pending;  // a stream that the reader has not taken
};

ReplyParser::ReplyParser(const ReplyFormat& format, const ReplyOptions& options)
    : state_(std::make_unique<State>(format, options)) {}

ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;

ReplyDelta ReplyParser::push(const ReplyPiece& piece) {
  if (piece.is_control) {
    state_->move_bytes(true);
    state_->pending += control_token(replace_invalid_utf8(piece.text));
  } else {
    state_->bytes += piece.text;
    state_->move_bytes(false);
  }
  state_->read(false);
  return state_->writer.take_delta();
}

ReplyDelta ReplyParser::finish() {
  state_->move_bytes(true);
  state_->read(true);
  state_->writer.finish();
  return state_->writer.take_delta();
}

const ReplyMessage& ReplyParser::message() const {
  return state_->writer.message();
}

}  // namespace mynah
