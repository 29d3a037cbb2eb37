// Any bytes as a model's output, with the format, the tokens and the cuts chosen by the first of
// them: every cut tells the same message, and the deltas are the message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "chat/reply/reply_parser.h"

namespace mynah {
namespace {

constexpr size_t kChoices = 4;  // bytes that are no output
constexpr std::string_view kTool =
    R"({"properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}}, "required": ["a"]})";

// Every marker of the format that is spelled like a token.
void add_controls(ReplyOptions& options, const ReplyFormat& format) {
  const auto controls = std::make_shared<Spellings>();
  const auto add = [&](const std::string& marker) {
    if (marker.starts_with('<') || marker.starts_with('[')) {
      controls->insert(marker);
    }
  };
  add(format.thoughts.begin);
  add(format.thoughts.end);
  for (const auto* const markers :
       {&format.calls.section_begin, &format.calls.section_end, &format.calls.begin,
        &format.calls.end, &format.calls.separator, &format.calls.id_separator}) {
    for (const std::string& marker : *markers) {
      add(marker);
    }
  }
  for (const char* const marker : {"<|channel|>", "<|message|>", "<|end|>", "<|start|>"}) {
    add(marker);
  }
  options.control_markers = controls;
}

ReplyMessage told(const ReplyFormat& format, const ReplyOptions& options, std::string_view output,
                  size_t step) {
  ReplyParser parser(format, options);
  ReplyMessage message;
  const auto keep = [&](const ReplyDelta& delta) {
    message.content += delta.content;
    message.reasoning += delta.reasoning;
    for (const CallDelta& call : delta.calls) {
      if (call.index == message.calls.size()) {
        message.calls.push_back({.id = call.id, .name = call.name, .arguments = {}});
      }
      MYNAH_CHECK(call.index < message.calls.size(),
                  "a call is told before the one in front of it");
      message.calls[call.index].arguments += call.arguments;
    }
  };
  size_t at = 0;
  while (at < output.size()) {
    // A token stands between two bytes that no text has.
    const size_t end = output.find('\xFF', at + 1);
    if (output[at] == '\xFF' && end != std::string_view::npos) {
      keep(parser.push({.text = output.substr(at + 1, end - at - 1), .is_control = true}));
      at = end + 1;
      continue;
    }
    const size_t next = output.find('\xFF', at + 1);
    const size_t length = std::min({step, output.size() - at, next - at});
    keep(parser.push({.text = output.substr(at, length)}));
    at += length;
    step = 1 + (step * 7 + output.size()) % 13;
  }
  keep(parser.finish());
  for (size_t i = 0; i < message.calls.size(); ++i) {
    message.calls[i].valid = i < parser.message().calls.size() && parser.message().calls[i].valid;
  }
  MYNAH_CHECK(message == parser.message(), "the deltas are not the message");
  return message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kChoices) {
    return 0;
  }
  const std::vector<CallFormat>& calls = call_formats();
  const std::vector<ThoughtFormat>& thoughts = thought_formats();
  const ReplyFormat format = {.calls = calls[data[0] % calls.size()],
                              .thoughts = thoughts[data[1] % thoughts.size()]};
  ReplyOptions options;
  if (data[2] % 2 == 1) {
    add_controls(options, format);
  }
  if (data[2] % 4 >= 2) {
    options.tools = {{.name = "f", .parameters = std::string(kTool)}};
  }
  if (data[2] % 8 >= 4) {
    options.prompt_end = format.thoughts.begin + "\n";
  }
  const std::string_view output(reinterpret_cast<const char*>(data) + kChoices, size - kChoices);
  const ReplyMessage whole = told(format, options, output, output.size() + 1);
  MYNAH_CHECK(told(format, options, output, 1 + data[3] % 16) == whole,
              "a cut tells another message");
  MYNAH_CHECK(whole.calls.size() <= kMostCalls, "too many calls");
  return 0;
}

}  // namespace mynah
