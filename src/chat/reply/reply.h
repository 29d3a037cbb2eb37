// What a language model's output says, apart: what is for the user, what it thought, and what it
// wants called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// A piece of a model's output: the bytes of any tokens, cut anywhere, or one control token whole by
// its spelling.
struct ReplyPiece {
  std::string_view text;
  bool is_control = false;
};

struct ToolCall {
  std::string id;    // as the model wrote it, else nine letters and digits of our own
  std::string name;  // as the model wrote it, of a tool that exists or not; empty: none was told
  std::string arguments;  // JSON text; where `valid` is not set, what the model wrote
  // The arguments are one JSON object, within kMostArgumentBytes and kMaxJsonDepth, and there is a
  // name. Known once the call has ended.
  bool valid = false;

  bool operator==(const ToolCall&) const = default;
};

struct ReplyMessage {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> calls;

  bool operator==(const ReplyMessage&) const = default;
};

// What a piece added to one call.
struct CallDelta {
  size_t index = 0;  // in ReplyMessage::calls
  // Told once, whole, with the call's first delta.
  std::string id;
  std::string name;
  std::string arguments;  // behind what was told
};

// What a piece added. The deltas of a reply, one behind the other, are its message.
struct ReplyDelta {
  std::string content;
  std::string reasoning;
  std::vector<CallDelta> calls;  // by index

  [[nodiscard]] bool empty() const { return content.empty() && reasoning.empty() && calls.empty(); }
};

// A tool that the model was offered.
struct ReplyTool {
  std::string name;
  std::string parameters;  // a JSON schema as text; what is no schema counts as "anything"
  bool strict = false;     // whether a call of it must keep to that
};

using Spellings = std::set<std::string, std::less<>>;

struct ReplyOptions {
  // The spellings of the vocabulary's control tokens. A marker that is one of them, or has one in
  // it, counts only where the model wrote that token: the same letters in text are text. A piece
  // that is pushed as a control token and does not stand here is no marker. Of all of a model's
  // replies; null: there are none.
  std::shared_ptr<const Spellings> control_markers;
  // What the template wrote behind the last message to begin the reply, with what was written of it
  // for the model: "<|im_start|>assistant\n<think>\n". The reply begins where this ends, for
  // instance inside a thought.
  std::string prompt_end;
  // Bare JSON and fenced code are calls only where there are tools.
  std::vector<ReplyTool> tools;
  // Whether an answer that is nothing but a call of a tool, as JSON without a marker, is one.
  bool lone_calls = true;
  uint64_t id_seed = 0;  // of the calls' ids where the model writes none
};

// Beyond these a call is told as one that is not valid, and more of it is left out.
inline constexpr size_t kMostArgumentBytes = size_t{1} << 20;
inline constexpr size_t kMostCalls = 128;
inline constexpr size_t kMostNameBytes = 256;

}  // namespace mynah
