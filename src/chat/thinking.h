// Thinking: how a model is told how much to think, by what its chat template knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "chat/reply/reply_format.h"

namespace mynah {

// How thoughts begin and end in a model's text, and whether it has any.
struct ThoughtMarkers {
  std::string begin;
  std::string end;
  std::string answer = {};  // what begins the answer behind it, where that takes more than the end
};

// Empty where the template's model does not think.
[[nodiscard]] ThoughtMarkers thought_markers(const std::string& template_source,
                                             const ReplyFormat& format);

struct ThinkingPlan {
  ChatRequest::Json template_arguments = ChatRequest::Json::object();
  int64_t most_tokens = -1;  // after which a thought is ended; -1: never
  std::vector<ReplyNote> notes;
};

// What the template knows it is told (Qwen's and SmolLM's enable_thinking, DeepSeek's and Granite's
// thinking, gpt-oss's reasoning_effort, Seed's thinking_budget); for the rest there is a budget of
// tokens: none 0, minimal 256, low 1024, medium 4096.
[[nodiscard]] ThinkingPlan plan_thinking(const Thinking& thinking,
                                         const std::string& template_source,
                                         const ThoughtMarkers& markers);

}  // namespace mynah
