#include "chat/chat_prompt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "chat/tools_in_words.h"
#include "formats/json.h"

namespace mynah {
namespace {

using Json = ChatRequest::Json;

std::unexpected<Error> refuse(size_t message, const std::string& what) {
  return fail(ErrorCode::InvalidInput, fmt::format("messages[{}]: {}", message, what));
}

const std::string* text_of(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
}

// Parts of text as one: few templates read a list, and those read a text as well.
Result<Json> content_of(const Json& content, size_t message) {
  if (content.is_string()) {
    return content;
  }
  if (content.is_null()) {
    return Json("");
  }
  if (!content.is_array()) {
    return refuse(message, "wanted a content that is a text, or a list of parts");
  }
  std::string text;
  for (const Json& part : content) {
    const auto type = part.is_object() ? part.find("type") : part.end();
    const auto words = part.is_object() ? part.find("text") : part.end();
    const bool is_text =
        part.is_object() && words != part.end() && words->is_string() &&
        (type == part.end() || *type == "text" || *type == "input_text" || *type == "output_text");
    if (!is_text) {
      const bool is_image = type != part.end() && type->is_string() &&
                            type->get_ref<const std::string&>().contains("image");
      return refuse(
          message,
          fmt::format("{}wanted parts of text, found {}",
                      is_image ? "images are not read here: " : "",
                      part.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80)));
    }
    text += words->get<std::string>();
  }
  return Json(std::move(text));
}

// Arguments as the object that templates write as JSON; clients send them as JSON in a text. What
// is none, or so deep that looking at it would take all of a thread's stack, stays a text.
Result<Json> call_of(const Json& call, size_t message) {
  if (!call.is_object() || !call.contains("function") || !call["function"].is_object() ||
      !call["function"].contains("name") || !call["function"]["name"].is_string()) {
    return refuse(message, "wanted tool_calls with a function and its name");
  }
  Json whole = call;
  Json& arguments = whole["function"]["arguments"];
  if (arguments.is_null()) {
    arguments = Json::object();
  } else if (arguments.is_string()) {
    const auto text = arguments.get<std::string>();
    if (text.empty()) {
      arguments = Json::object();
    } else if (auto read = parse_ordered_json(text, "arguments")) {
      arguments = *std::move(read);
    }
  }
  return whole;
}

Result<Json> message_of(const Json& message, size_t number) {
  if (!message.is_object() || !message.contains("role") || !message["role"].is_string()) {
    return refuse(number, "wanted an object with a role");
  }
  Json whole = Json::object();
  for (const auto& [key, value] : message.items()) {
    if (key == "content") {
      MYNAH_TRY(whole[key], content_of(value, number));
    } else if (key == "tool_calls" && value.is_array()) {
      if (value.empty()) {
        continue;
      }
      Json& calls = whole[key] = Json::array();
      for (const Json& call : value) {
        MYNAH_TRY(Json one, call_of(call, number));
        calls.push_back(std::move(one));
      }
    } else if (!value.is_null()) {
      whole[key] = value;
    }
  }
  if (!whole.contains("content")) {
    whole["content"] = "";
  }
  return whole;
}

Result<Json> messages_of(const Json& messages) {
  if (!messages.is_array() || messages.empty()) {
    return fail(ErrorCode::InvalidInput, "messages: wanted a list of at least one message");
  }
  Json whole = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    MYNAH_TRY(Json one, message_of(messages[i], i));
    whole.push_back(std::move(one));
  }
  return whole;
}

// What the template wrote behind everything that was given: where the reply begins.
std::string end_of(const std::vector<TemplatePiece>& pieces) {
  return pieces.empty() || pieces.back().given ? std::string() : pieces.back().text;
}

}  // namespace

bool template_takes_tools(std::string_view source) {
  return source.contains("tools");
}

Result<ChatPrompt> ChatPrompt::read(const TensorFile& file) {
  ChatPrompt prompt;
  MYNAH_TRY(std::shared_ptr<const TextTokenizer> tokenizer, create_text_tokenizer(file));
  prompt.tokenizer_ = std::move(tokenizer);
  const std::string* const source = text_of(file, "tokenizer.chat_template");
  if (source == nullptr || source->empty()) {
    return prompt;
  }
  MYNAH_TRY(prompt.template_, Template::parse(*source));
  prompt.source_ = *source;
  prompt.format_ = reply_format_of_template(*source);
  prompt.takes_developer_ = source->contains("developer");
  prompt.takes_tools_ = template_takes_tools(*source);
  prompt.takes_calls_ = source->contains("tool_calls");
  const auto spelled = [&](const std::optional<int32_t>& id) {
    return id ? std::string(prompt.tokenizer_->bytes(*id)) : std::string();
  };
  const SpecialTokens& special = prompt.tokenizer_->special();
  prompt.options_.own = {{"bos_token", spelled(special.bos)},
                         {"eos_token", spelled(special.eos)},
                         {"unk_token", spelled(special.unknown)},
                         {"pad_token", spelled(special.padding)}};
  const Json spoken = {
      {"messages", {{{"role", "system"}, {"content", "a"}}, {{"role", "user"}, {"content", "b"}}}},
      {"tools", nullptr},
      {"documents", nullptr},
      {"add_generation_prompt", true}};
  prompt.takes_system_ = prompt.template_->render(spoken, prompt.options_).has_value();
  return prompt;
}

Result<RenderedPrompt> ChatPrompt::render(const ChatRequest& request) const {
  if (!template_) {
    return fail(ErrorCode::Unsupported,
                "the model's file has no chat template: it goes on with a text, and was not taught "
                "to converse; wanted an instruct model");
  }
  MYNAH_TRY(Json messages, messages_of(request.messages));
  // What a developer says is the system's word for templates that know no developers.
  if (!takes_developer_) {
    for (Json& message : messages) {
      if (message["role"] == "developer") {
        message["role"] = "system";
      }
    }
  }
  if (!takes_tools_) {
    messages =
        tools_in_words(messages, request.tools, {.system = takes_system_, .calls = takes_calls_});
  }
  Json context =
      request.template_arguments.is_object() ? request.template_arguments : Json::object();
  context["messages"] = std::move(messages);
  // As transformers' apply_chat_template() has them where there are none.
  context["tools"] = request.tools.empty() ? Json(nullptr) : request.tools;
  context["documents"] = nullptr;
  context["add_generation_prompt"] = true;
  auto pieces = template_->render(context, options_);
  if (!pieces) {
    const TemplateError& error = pieces.error();
    if (error.kind == TemplateError::Kind::Refusal) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the model's chat template refuses the messages (line {}): {}",
                              error.line, error.message));
    }
    return std::unexpected(Error(error));
  }
  std::vector<PromptPart> parts;
  parts.reserve(pieces->size());
  for (const TemplatePiece& piece : *pieces) {
    parts.push_back({.text = piece.text, .given = piece.given});
  }
  RenderedPrompt rendered{.tokens = tokenizer_->encode_template(parts), .end = end_of(*pieces)};
  // Templates that leave the beginning out count on whoever reads them to add it.
  const SpecialTokens& special = tokenizer_->special();
  if (special.add_bos && special.bos &&
      (rendered.tokens.empty() || rendered.tokens.front() != *special.bos)) {
    rendered.tokens.insert(rendered.tokens.begin(), *special.bos);
  }
  const PromptPart last{.text = rendered.end};
  const std::vector<int32_t> end = tokenizer_->encode_template({&last, 1});
  const auto differ =
      std::mismatch(end.rbegin(), end.rend(), rendered.tokens.rbegin(), rendered.tokens.rend());
  rendered.said = differ.second.base() - rendered.tokens.begin();
  return rendered;
}

}  // namespace mynah
