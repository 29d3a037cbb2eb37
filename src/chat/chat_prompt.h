// ChatPrompt: a conversation as the tokens that a model was taught to read it by: its file's chat
// template and its tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_request.h"
#include "chat/reply/reply_format.h"
#include "formats/tensor_file.h"
#include "text/template/template.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

// Whether a chat template (its Jinja source) tells a model of tools.
[[nodiscard]] bool template_takes_tools(std::string_view source);

// A rendered conversation.
struct RenderedPrompt {
  std::vector<int32_t> tokens;
  std::string end;   // what the template wrote behind the last message to begin the reply
  int64_t said = 0;  // tokens before that: a later prompt may have the reply written otherwise
};

// Const after load; any number of threads may use it.
class ChatPrompt {
 public:
  // Of a GGUF file's metadata; as create_text_tokenizer() refuses, and for a template that cannot
  // be read.
  static Result<ChatPrompt> read(const TensorFile& file);

  [[nodiscard]] const TextTokenizer& tokenizer() const { return *tokenizer_; }

  [[nodiscard]] std::shared_ptr<const TextTokenizer> shared_tokenizer() const { return tokenizer_; }

  // Whether the file has a template: without one a model goes on with texts and cannot converse.
  [[nodiscard]] bool has_template() const { return template_.has_value(); }

  // How the model writes calls and thoughts.
  [[nodiscard]] const ReplyFormat& format() const { return format_; }

  [[nodiscard]] const std::string& template_source() const { return source_; }

  // Whether the template tells of tools; else they are told in words (tools_in_words()).
  [[nodiscard]] bool takes_tools() const { return takes_tools_; }

  // The conversation with what begins a reply behind it. InvalidInput, with the place in the
  // request, for messages that are none; with the template's line where that refuses them;
  // Unsupported for a model without a template.
  [[nodiscard]] Result<RenderedPrompt> render(const ChatRequest& request) const;

  // A text that nobody put into a conversation.
  [[nodiscard]] std::vector<int32_t> of_text(std::string_view text) const {
    return tokenizer_->encode_whole(text);
  }

 private:
  ChatPrompt() = default;

  std::shared_ptr<const TextTokenizer> tokenizer_;
  std::optional<Template> template_;
  std::string source_;
  ReplyFormat format_;
  // What the template takes.
  bool takes_system_ = true;      // a system's message
  bool takes_developer_ = false;  // a developer's
  bool takes_tools_ = false;
  bool takes_calls_ = false;  // of an assistant
  RenderOptions options_;
};

}  // namespace mynah
