#include "chat/reply/llama_body.h"

#include <algorithm>
#include <array>

#include "chat/reply/json_body.h"
#include "chat/reply/python_body.h"
#include "chat/reply/reply_markers.h"

namespace mynah {
namespace {

constexpr std::string_view kNameBytes =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
// What tools for code are called: the first that was offered, else the first.
constexpr auto kInterpreters =
    std::to_array<std::string_view>({"python", "ipython", "code_interpreter"});

}  // namespace

std::string_view LlamaBody::held() const {
  return call_ ? call_->held() : std::string_view();
}

BodyStep LlamaBody::take(std::string_view stream, bool last) {
  BodyStep begun;
  if (!call_ && !is_code_) {
    begun = begin(stream, last);
    if (!call_ && !is_code_) {
      return begun;
    }
  }
  const std::string_view rest = stream.substr(begun.taken);
  BodyStep step = is_code_ ? code(rest, last) : call_->take(rest, last);
  step.taken += begun.taken;
  return step;
}

BodyStep LlamaBody::begin(std::string_view stream, bool last) {
  const std::string_view text = without_leading_space(stream);
  const size_t space = stream.size() - text.size();
  if (text.empty()) {
    return {.taken = space};
  }
  if (text.front() == '{' || text.front() == '[') {
    call_ = std::make_unique<JsonBody>(context_, false);
    return {.taken = space};
  }
  const size_t name = std::min(text.find_first_not_of(kNameBytes), text.size());
  if (name == text.size() && name <= kMostNameBytes && !last) {
    return {.taken = space};
  }
  if (name <= kMostNameBytes && text.substr(0, name).ends_with(".call") &&
      text.substr(name).starts_with('(')) {
    call_ = std::make_unique<PythonBody>(context_);
    return {.taken = space};
  }
  const auto* const offered = std::ranges::find_if(
      kInterpreters, [this](std::string_view name_of) { return context_.tools.has(name_of); });
  context_.writer.begin_call(offered == kInterpreters.end() ? kInterpreters[0] : *offered, {});
  context_.writer.arguments("{\"code\": \"");
  is_code_ = true;
  return {.taken = space};
}

// Ends with the reply.
BodyStep LlamaBody::code(std::string_view stream, bool last) {
  std::string text;
  append_text(text, stream);
  context_.writer.arguments(json_escaped(text));
  if (last) {
    context_.writer.arguments("\"}");
  }
  return {.taken = stream.size(), .state = last ? BodyStep::State::Done : BodyStep::State::More};
}

}  // namespace mynah
