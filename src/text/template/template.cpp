#include "text/template/template.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "text/template/parser.h"
#include "text/template/renderer.h"
#include "text/template/syntax.h"
#include "text/utf8.h"

namespace mynah {

std::string joined_text(const std::vector<TemplatePiece>& pieces) {
  std::string text;
  for (const TemplatePiece& piece : pieces) {
    text += piece.text;
  }
  return text;
}

std::tm local_time_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

TemplateError::operator Error() const {
  const std::string_view what = kind == Kind::Refusal ? "the chat template refuses (line {}): {}"
                                                      : "chat template, line {}: {}";
  return {kind == Kind::Unsupported ? ErrorCode::Unsupported : ErrorCode::InvalidInput,
          fmt::format(fmt::runtime(what), line, message)};
}

Template::Template(std::shared_ptr<const TemplateTree> tree) : tree_(std::move(tree)) {}

TemplateResult<Template> Template::parse(std::string_view text) {
  const auto refused = [](std::string message) {
    return std::unexpected(TemplateError{TemplateError::Kind::Syntax, 1, std::move(message)});
  };
  if (text.size() > kMaximumBytes) {
    return refused(
        fmt::format("a template has at most {} bytes, this one {}", kMaximumBytes, text.size()));
  }
  if (replace_invalid_utf8(text) != text) {
    return refused("a template must be UTF-8");
  }
  MYNAH_TRY(std::vector<jinja::Token> tokens, jinja::tokenize(text));
  MYNAH_TRY(TemplateTree tree, jinja::Parser(std::move(tokens)).run());
  return Template(std::make_shared<const TemplateTree>(std::move(tree)));
}

TemplateResult<std::vector<TemplatePiece>> Template::render(const nlohmann::ordered_json& context,
                                                            const RenderOptions& options) const {
  return jinja::Renderer(*tree_, options).run(context);
}

}  // namespace mynah
