#include "chat/turns.h"

#include <algorithm>
#include <utility>

namespace mynah {
namespace {

using Json = ChatRequest::Json;

bool is_of(const Json& message, const char* role) {
  return message.is_object() && message.contains("role") && message["role"] == role;
}

bool is_kept(const Json& message) {
  return is_of(message, "system") || is_of(message, "developer");
}

// Where turns begin.
std::vector<size_t> turns_of(const Json& messages) {
  std::vector<size_t> turns;
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool is_first = turns.empty() && !is_kept(messages[i]);
    if (is_first || is_of(messages[i], "user")) {
      turns.push_back(i);
    }
  }
  return turns;
}

// What is left of the messages from `begin` on, and of the system's before.
Json from(const Json& messages, size_t begin) {
  Json left = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    if (i >= begin || is_kept(messages[i])) {
      left.push_back(messages[i]);
    }
  }
  return left;
}

}  // namespace

Result<Shortened> shorten(const ChatPrompt& prompt, const ChatRequest& request,
                          RenderedPrompt whole, int64_t context, int64_t room) {
  Shortened shortened{.messages = request.messages, .prompt = std::move(whole), .left_out = 0};
  const int64_t length = std::ssize(shortened.prompt.tokens);
  const int64_t over = length + room - context;
  if (over <= 0) {
    return shortened;
  }
  constexpr int64_t kPart = 4;
  const int64_t quarter = std::max<int64_t>(1, context / kPart);
  const int64_t least = (over + quarter - 1) / quarter * quarter;
  const std::vector<size_t> turns = turns_of(request.messages);
  ChatRequest fewer = request;
  // The first turn from which on enough is left out: more turns are never fewer tokens. It is
  // looked for from the end on, in growing steps, so that no more is read than some times what is
  // left.
  size_t low = 1;
  size_t high = turns.empty() ? 0 : turns.size() - 1;
  size_t step = 0;
  bool from_end = true;
  while (low <= high) {
    const size_t middle = from_end ? high - std::min(step, high - low) : (low + high) / 2;
    fewer.messages = from(request.messages, turns[middle]);
    MYNAH_TRY(RenderedPrompt rendered, prompt.render(fewer));
    const int64_t gone = length - std::ssize(rendered.tokens);
    const bool is_enough = gone >= least || middle + 1 == turns.size();
    if (is_enough) {
      shortened.left_out = std::ssize(request.messages) - std::ssize(fewer.messages);
      shortened.messages = fewer.messages;
      shortened.prompt = std::move(rendered);
      high = middle - 1;
      step = 2 * step + 1;
    } else {
      low = middle + 1;
      from_end = false;
    }
  }
  return shortened;
}

std::vector<int32_t> beginning_of_next_turn(const ChatPrompt& prompt, ChatRequest request,
                                            const std::string& content) {
  request.messages.push_back({{"role", "assistant"}, {"content", content}});
  std::vector<std::vector<int32_t>> turns;
  for (const char* const said : {"a", "1"}) {
    ChatRequest next = request;
    next.messages.push_back({{"role", "user"}, {"content", said}});
    auto rendered = prompt.render(next);
    if (!rendered) {
      return {};
    }
    turns.push_back(std::move(rendered->tokens));
  }
  const auto differ = std::ranges::mismatch(turns[0], turns[1]);
  return {turns[0].begin(), differ.in1};
}

}  // namespace mynah
