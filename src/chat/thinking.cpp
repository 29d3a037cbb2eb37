#include "chat/thinking.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mynah {
namespace {

using Effort = Thinking::Effort;

constexpr std::array<std::string_view, 2> kSwitches = {"enable_thinking", "thinking"};
constexpr std::string_view kEffort = "reasoning_effort";
constexpr std::string_view kBudget = "thinking_budget";

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether a template reads that name: as a word of its own between its braces, and as no member of
// another ("message.thinking").
bool knows(std::string_view source, std::string_view name) {
  for (size_t at = source.find(name); at != std::string_view::npos;
       at = source.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool is_word = (at == 0 || (!is_of_word(source[at - 1]) && source[at - 1] != '.' &&
                                      source[at - 1] != '\'' && source[at - 1] != '"')) &&
                         (end == source.size() || !is_of_word(source[end]));
    const size_t open = source.substr(0, at).rfind('{');
    const size_t closed = source.substr(0, at).rfind('}');
    const bool in_braces =
        open != std::string_view::npos && (closed == std::string_view::npos || closed < open) &&
        ((open > 0 && source[open - 1] == '{') || source.substr(open, 2) == "{%");
    if (is_word && in_braces) {
      return true;
    }
  }
  return false;
}

// Tokens of a thought, where nothing else says how much it may be.
int64_t budget_of(Effort effort) {
  switch (effort) {
    case Effort::None:
      return 0;
    case Effort::Minimal:
      return 256;
    case Effort::Low:
      return 1024;
    case Effort::Medium:
      return 4096;
    default:
      return -1;
  }
}

// The words of gpt-oss's template.
const char* word_of(Effort effort) {
  switch (effort) {
    case Effort::None:
    case Effort::Minimal:
    case Effort::Low:
      return "low";
    case Effort::High:
      return "high";
    default:
      return "medium";
  }
}

}  // namespace

ThoughtMarkers thought_markers(const std::string& template_source, const ReplyFormat& format) {
  if (format.calls.shape == CallShape::Harmony) {
    return {.begin = "<|channel|>analysis<|message|>",
            .end = "<|end|>",
            .answer = "<|start|>assistant<|channel|>final<|message|>"};
  }
  const bool thinks =
      !format.thoughts.begin.empty() &&
      (template_source.contains(format.thoughts.begin) ||
       template_source.contains(format.thoughts.end) || knows(template_source, kEffort) ||
       std::ranges::any_of(kSwitches, [&](auto name) { return knows(template_source, name); }));
  return thinks ? ThoughtMarkers{.begin = format.thoughts.begin, .end = format.thoughts.end}
                : ThoughtMarkers();
}

ThinkingPlan plan_thinking(const Thinking& thinking, const std::string& template_source,
                           const ThoughtMarkers& markers) {
  ThinkingPlan plan;
  const Effort effort = thinking.effort;
  const bool wants = effort != Effort::AsTaught || thinking.most_tokens >= 0;
  if (!wants) {
    return plan;
  }
  if (markers.end.empty()) {
    if (effort != Effort::None && thinking.most_tokens != 0) {
      plan.notes.push_back({.code = "does_not_think",
                            .text = "this model does not think before it answers: how much it is "
                                    "to think does nothing"});
    }
    return plan;
  }
  const bool is_off = effort == Effort::None || thinking.most_tokens == 0;
  bool is_switched = false;
  for (const std::string_view name : kSwitches) {
    if (knows(template_source, name)) {
      plan.template_arguments[std::string(name)] = !is_off;
      is_switched = true;
    }
  }
  const bool has_effort = knows(template_source, kEffort);
  if (has_effort && (effort != Effort::AsTaught || is_off)) {
    plan.template_arguments[std::string(kEffort)] = is_off ? "low" : word_of(effort);
  }
  plan.most_tokens = thinking.most_tokens;
  const bool is_told = is_off ? is_switched : has_effort && effort != Effort::Minimal;
  if (plan.most_tokens < 0 && !is_told) {
    plan.most_tokens = budget_of(effort);
  }
  if (plan.most_tokens >= 0 && knows(template_source, kBudget)) {
    plan.template_arguments[std::string(kBudget)] = plan.most_tokens;
  }
  return plan;
}

}  // namespace mynah
