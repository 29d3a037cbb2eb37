#include "chat/reply/reply_writer.h"

#include <algorithm>
#include <utility>

#include "chat/reply/reply_markers.h"
#include "formats/json.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr size_t kIdLetters = 9;  // Mistral's templates refuse an id of any other length
constexpr std::string_view kIdAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
uint64_t next_random(uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31U);
}

bool is_json_object(std::string_view text) {
  const auto value = parse_json(text, "arguments");
  return value && value->is_object();
}

}  // namespace

void ReplyWriter::append(std::string& whole, std::string& added, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (space_is_thought_ != (&whole == &message_.reasoning)) {
    space_.clear();
    space_is_thought_ = !space_is_thought_;
  }
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    space_ += text;
    return;
  }
  if (at_edge_ && after_marker_) {
    space_.clear();
    text.remove_prefix(begin);
  }
  const size_t end = text.find_last_not_of(" \t\r\n") + 1;
  std::string shown = std::exchange(space_, std::string(text.substr(end)));
  shown += text.substr(0, end);
  whole += shown;
  added += shown;
  at_edge_ = false;
}

void ReplyWriter::content(std::string_view stream) {
  std::string text;
  append_text(text, stream);
  if (lone_) {
    text = lone_->take(text);
    if (lone_->is_over()) {
      lone_.reset();
    }
  }
  append(message_.content, delta_.content, text);
}

void ReplyWriter::give_up_call() {
  if (lone_ && !lone_->held().empty()) {
    const std::string held = lone_->held();
    lone_.reset();
    append(message_.content, delta_.content, held);
  }
}

void ReplyWriter::reasoning(std::string_view stream) {
  std::string text;
  append_spelled(text, stream);
  if (!text.empty()) {
    give_up_call();
  }
  append(message_.reasoning, delta_.reasoning, text);
}

void ReplyWriter::edge() {
  give_up_call();
  space_.clear();
  at_edge_ = true;
  after_marker_ = true;
}

std::string ReplyWriter::make_id(size_t index) const {
  uint64_t state = id_seed_ + index;
  std::string id;
  while (id.size() < kIdLetters) {
    id += kIdAlphabet[next_random(state) % kIdAlphabet.size()];
  }
  return id;
}

CallDelta& ReplyWriter::delta_of_call() {
  const size_t index = message_.calls.size() - 1;
  if (delta_.calls.empty() || delta_.calls.back().index != index) {
    delta_.calls.push_back({.index = index, .id = {}, .name = {}, .arguments = {}});
  }
  return delta_.calls.back();
}

void ReplyWriter::begin_call(std::string_view name, std::string_view id) {
  end_call();
  edge();
  lone_.reset();  // beside another call nothing is one alone
  open_ = true;
  spoilt_ = false;
  full_ = false;
  left_out_ = message_.calls.size() >= kMostCalls;
  if (left_out_) {
    return;
  }
  ToolCall& call = message_.calls.emplace_back();
  call.name = name;
  call.id = id.empty() ? make_id(message_.calls.size() - 1) : std::string(id);
  CallDelta& delta = delta_of_call();
  delta.name = call.name;
  delta.id = call.id;
}

void ReplyWriter::arguments(std::string_view text) {
  if (!open_ || left_out_ || full_ || text.empty()) {
    return;
  }
  std::string& whole = message_.calls.back().arguments;
  if (text.size() > kMostArgumentBytes - whole.size()) {
    size_t room = kMostArgumentBytes - whole.size();
    room -= incomplete_utf8_tail(text.substr(0, room));
    text = text.substr(0, room);
    spoilt_ = true;
    full_ = true;
    if (text.empty()) {
      return;
    }
  }
  whole += text;
  delta_of_call().arguments += text;
}

void ReplyWriter::end_call() {
  if (open_ && !left_out_) {
    ToolCall& call = message_.calls.back();
    call.valid = !spoilt_ && !call.name.empty() && is_json_object(call.arguments);
  }
  open_ = false;
}

void ReplyWriter::finish() {
  end_call();
  const auto call = lone_ ? lone_->call() : std::nullopt;
  if (call) {
    lone_.reset();  // what is held is no content
    begin_call(call->name, {});
    arguments(call->arguments);
    end_call();
  }
  give_up_call();
  std::string& whole = space_is_thought_ ? message_.reasoning : message_.content;
  std::string& added = space_is_thought_ ? delta_.reasoning : delta_.content;
  if (!(at_edge_ && after_marker_)) {
    whole += space_;
    added += space_;
  }
  space_.clear();
}

void ReplyWriter::forget_text() {
  message_.content.clear();
  message_.reasoning.clear();
  delta_.content.clear();
  delta_.reasoning.clear();
  space_.clear();
  at_edge_ = at_edge_ || !after_marker_;
}

ReplyDelta ReplyWriter::take_delta() {
  return std::exchange(delta_, ReplyDelta{});
}

}  // namespace mynah
