#include "cli/talk/talk_prompt.h"

#include <fmt/format.h>

#include "talk/loop/chat_record.h"

namespace mynah::cli {

namespace {

// A sentence that is heard, and one that replies.
constexpr int64_t kLeastTurn = 64;

// Tokens of what is read before the first turn.
Result<int64_t> tokens_before(const ChatModel& model, const std::string& system,
                              const ChatRequest::Json& tools) {
  ChatRequest request = talk::ChatRecord({}, talk::spoken_system(system)).with_user("Hello.");
  request.tools = tools;
  MYNAH_TRY(const RenderedPrompt rendered, model.prompt().render(request));
  return std::ssize(rendered.tokens);
}

}  // namespace

Result<std::vector<std::string>> check_talk_prompt(const ChatModel& model,
                                                   const std::string& system,
                                                   const ChatRequest::Json& tools) {
  MYNAH_TRY(const int64_t tokens, tokens_before(model, system, tools));
  const int64_t context = model.facts().context;
  if (context < tokens + kLeastTurn) {
    return fail(ErrorCode::Usage,
                fmt::format("--context: wanted {} tokens at least, {} for what the model is told "
                            "before all else and {} for a turn and its reply, found {}",
                            tokens + kLeastTurn, tokens, kLeastTurn, context));
  }
  std::vector<std::string> notes;
  if (!tools.empty() && !model.prompt().takes_tools()) {
    MYNAH_TRY(const int64_t without, tokens_before(model, system, ChatRequest::Json::array()));
    notes.push_back(fmt::format(
        "the model's chat template knows no tools: they are told to it in words, {} tokens of its "
        "prompt, which is read before the first reply, and it may call none, or badly",
        tokens - without));
  }
  return notes;
}

}  // namespace mynah::cli
