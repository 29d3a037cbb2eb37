// Fields that OpenAI's APIs for conversations have alike.
#pragma once

#include "server/http/fields.h"

namespace mynah::server {

inline constexpr Field kChatModel = {
    .name = "model",
    .help = "A model that is here and writes; one of OpenAI's, or none: the default."};
inline constexpr Field kChatStream = {
    .name = "stream", .type = FieldType::Flag, .help = "Events, as the reply is written."};
inline constexpr Field kTools = {
    .name = "tools", .type = FieldType::Any, .help = "Functions that the model may call."};
inline constexpr Field kToolChoice = {
    .name = "tool_choice",
    .type = FieldType::Any,
    .help = "auto, none, required, or an object with a function's name."};
inline constexpr Field kSeveralCalls = {
    .name = "parallel_tool_calls",
    .type = FieldType::Flag,
    .help = "False, or not told where a call must come: one call in a reply at most."};
inline constexpr Field kReasoning = {
    .name = "reasoning",
    .type = FieldType::Any,
    .help = "An object: effort as reasoning_effort has it, max_tokens of thoughts, enabled."};
inline constexpr Field kThinkingBudget = {
    .name = "thinking_budget",
    .type = FieldType::Whole,
    .help = "Tokens of thoughts, after which the answer begins; -1: as many as there are.",
    .least = -1,
    .most = 1 << 24};
inline constexpr Field kTruncation = {
    .name = "truncation",
    .help =
        "What becomes of a conversation without room: disabled refuses it, auto leaves out its "
        "oldest turns and says so.",
    .choices = "auto disabled"};
inline constexpr Field kUser = {
    .name = "user", .help = "Whose conversation it is: what was read is shared within it."};
inline constexpr Field kCacheKey = {.name = "prompt_cache_key",
                                    .help = "The same, of a conversation."};

}  // namespace mynah::server
