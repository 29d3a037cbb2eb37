// A format and a number of calls, the schema of a tool, NUL, and choices: whatever is written under
// the grammar of the tool's calls is read as calls of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "chat/call_text.h"
#include "chat/reply/call_grammar.h"
#include "chat/reply/reply_parser.h"
#include "text/grammar/byte_vocabulary.h"
#include "text/grammar/constraint.h"

namespace mynah {
namespace {

constexpr size_t kMostText = 400;
constexpr std::string_view kClosing = "\"}])>'|<&,:0a";  // what ends a text soonest
constexpr int kBytes = 256;

// Appends the first byte from `wanted` on that may come, and all that must follow.
bool append(std::string& text, grammar::ConstraintState& state, uint8_t wanted) {
  for (int i = 0; i < kBytes; ++i) {
    const std::string byte(1, static_cast<char>(wanted + i));
    if (state.accept(byte)) {
      text += byte;
      const std::string forced = state.forced();
      MYNAH_CHECK(state.accept(forced).has_value(), "what is forced is accepted");
      text += forced;
      return true;
    }
  }
  return false;
}

// A text of the grammar; "": none was found soon.
std::string text_of(const std::shared_ptr<const grammar::Constraint>& constraint,
                    std::string_view choices) {
  grammar::ConstraintState state(constraint);
  std::string text = state.forced();
  MYNAH_CHECK(state.accept(text).has_value(), "what is forced is accepted");
  for (size_t i = 0; i < choices.size() && text.size() < kMostText; ++i) {
    if (!append(text, state, static_cast<uint8_t>(choices[i]))) {
      break;
    }
  }
  for (size_t i = 0; !state.may_end() && i < kMostText; ++i) {
    if (!append(text, state, static_cast<uint8_t>(kClosing[i % kClosing.size()]))) {
      return {};
    }
  }
  return state.may_end() ? text : std::string();
}

void check(const CallFormat& format, bool several, const ReplyTool& tool,
           std::string_view choices) {
  static const auto vocabulary = grammar::byte_vocabulary();
  const auto calls = call_constraint(format, {tool}, several);
  if (!calls) {
    MYNAH_CHECK(!calls.error().message.empty(), "an error says what is wrong");
    return;
  }
  const auto grammar = grammar_of_calls(calls->behind, {}, {});
  if (!grammar) {
    MYNAH_CHECK(!grammar.error().message.empty(), "an error says what is wrong");
    return;
  }
  const auto constraint = grammar::Constraint::compile(*grammar, vocabulary);
  const std::string behind = constraint ? text_of(*constraint, choices) : std::string();
  if (behind.empty()) {
    return;
  }
  ReplyOptions options;
  options.tools = {tool};
  ReplyParser parser({.calls = format, .thoughts = thought_formats().front()}, options);
  static_cast<void>(parser.push({.text = calls->begins.front() + behind}));
  static_cast<void>(parser.finish());
  const ReplyMessage& message = parser.message();
  MYNAH_CHECK(!message.calls.empty(), "a call is read");
  MYNAH_CHECK(several || message.calls.size() == 1, "as many as may be written");
  for (const ToolCall& call : message.calls) {
    MYNAH_CHECK(call.valid && call.name == tool.name, "it is a call of the tool");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::vector<CallFormat>& formats = call_formats();
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  check(formats[data[0] % formats.size()], data[1] % 2 == 1,
        {.name = "f", .parameters = std::string(bytes.substr(0, end))},
        bytes.substr(std::min(end + 1, bytes.size())));
  return 0;
}

}  // namespace mynah
