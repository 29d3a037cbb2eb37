// A template, the messages and tools of a conversation as JSON, NUL, and bytes that a tool wrote:
// rendered, shortened, and gone on with, whatever clients, files and tools put into them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "chat/chat_prompt.h"
#include "chat/turns.h"
#include "formats/json.h"
#include "text/vocabulary.h"

namespace mynah {
namespace {

using Json = ChatRequest::Json;

// One that knows tools, one that does not, and one that wants users and assistants in turns.
constexpr std::array<const char*, 3> kTemplates = {
    "{%- if tools %}{{- tools | tojson }}{%- endif %}{%- for message in messages %}{{- "
    "'<|im_start|>' "
    "+ message.role + '\n' + message.content }}{%- for call in message.tool_calls or [] %}{{- "
    "call.function.name + (call.function.arguments | tojson) }}{%- endfor %}{{- '<|im_end|>' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}",
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\n' + "
    "message['content'] "
    "+ '<|im_end|>' }}{%- endfor %}{{- '<|im_start|>assistant\n' }}",
    "{%- for message in messages %}{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{- "
    "raise_exception('in turns') }}{%- endif %}{{- message.content | trim }}{%- endfor %}"};

ChatPrompt prompt_of(const char* source) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(printable_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  std::vector<int64_t> types(tokens.size(), 1);  // normal (llama.cpp, enum llama_token_type)
  for (const char* const mark : {"<|im_start|>", "<|im_end|>"}) {
    tokens.emplace_back(mark);
    types.push_back(3);  // control
  }
  tokens.emplace_back("th");
  types.push_back(1);
  TensorFile file;
  file.metadata = {{"tokenizer.ggml.model", std::string("gpt2")},
                   {"tokenizer.ggml.pre", std::string("qwen2")},
                   {"tokenizer.ggml.tokens", std::move(tokens)},
                   {"tokenizer.ggml.token_type", std::move(types)},
                   {"tokenizer.ggml.merges", std::vector<std::string>{"t h"}},
                   {"tokenizer.ggml.eos_token_id", int64_t{257}},
                   {"tokenizer.chat_template", std::string(source)}};
  return ChatPrompt::read(file).value();
}

void check(const ChatPrompt& prompt, const ChatRequest& request) {
  const auto rendered = prompt.render(request);
  if (!rendered) {
    MYNAH_CHECK(!rendered.error().message.empty(), "an error says what is wrong");
    return;
  }
  const int64_t length = std::ssize(rendered->tokens);
  MYNAH_CHECK(rendered->said >= 0 && rendered->said <= length, "what was said is of the prompt");
  for (const int32_t token : rendered->tokens) {
    MYNAH_CHECK(token >= 0 && token < prompt.tokenizer().size(), "a token is of the vocabulary");
  }
  if (const auto left = shorten(prompt, request, *rendered, length / 2 + 1, 1)) {
    MYNAH_CHECK(left->left_out + std::ssize(left->messages) == std::ssize(request.messages),
                "messages are there or left out");
    MYNAH_CHECK(left->messages.back() == request.messages.back(), "the last one stays");
  }
  static_cast<void>(beginning_of_next_turn(prompt, request, "c"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::array prompts = {prompt_of(kTemplates[0]), prompt_of(kTemplates[1]),
                                     prompt_of(kTemplates[2])};
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(0, end);
  if (!parse_json(text, "fuzz")) {
    return 0;
  }
  // Once more, as that forgets the order.
  const auto sent = Json::parse(text, nullptr, false);
  if (!sent.is_object()) {
    return 0;
  }
  ChatRequest request;
  request.messages = sent.value("messages", Json());
  request.tools = sent.value("tools", Json::array());
  if (end < bytes.size() && request.messages.is_array()) {
    request.messages.push_back({{"role", "tool"}, {"content", std::string(bytes.substr(end + 1))}});
  }
  request.template_arguments = sent.value("chat_template_kwargs", Json());
  check(prompts[data[0] % prompts.size()], request);
  return 0;
}

}  // namespace mynah
