// Template: a chat template, rendered as Python's jinja2 renders it under the settings of Hugging
// Face's transformers (utils/chat_template_utils.py: an ImmutableSandboxedEnvironment with
// trim_blocks, lstrip_blocks, loop controls, its own tojson, raise_exception and strftime_now, and
// {% generation %}).
//
// Text keeps its origin: what a user, a tool or a file wrote stays apart from what the template
// wrote, through concatenation, slices, filters and tojson, so that whoever makes tokens of it can
// take special tokens from the template's own text alone.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/template/template_error.h"

namespace mynah {

// A run of rendered text of one origin. Neighbours differ in origin and none is empty. A tokenizer
// must not look for special tokens in given text nor across two pieces; all else between two
// special tokens is one text, whatever its pieces, as words are merged over their borders.
struct TemplatePiece {
  std::string text;    // UTF-8
  bool given = false;  // from the context; else the template's own, or of RenderOptions::own

  bool operator==(const TemplatePiece&) const = default;
};

// The pieces as one text.
[[nodiscard]] std::string joined_text(const std::vector<TemplatePiece>& pieces);

// The local time, as strftime_now tells it.
[[nodiscard]] std::tm local_time_now();

struct RenderOptions {
  // Names beside the context's whose strings count as the template's own: bos_token, eos_token and
  // what else comes from the model's file, never from a request. They win over the context's.
  nlohmann::ordered_json own = nlohmann::ordered_json::object();

  // Strings of the context that count as own where they stand alone, as roles do: templates write
  // '<|' + message['role'] + '|>', which has to become one special token.
  std::vector<std::string> own_words = {"system", "user",      "assistant",
                                        "tool",   "developer", "function"};

  RenderLimits limits{};
  std::function<std::tm()> now = local_time_now;
};

struct TemplateTree;  // text/template/syntax.h

// Immutable once parsed: any number of threads may render it.
class Template {
 public:
  // Reads a template, at most kMaximumBytes of UTF-8. Filters, tests and functions that do not
  // exist are found here, not while rendering.
  [[nodiscard]] static TemplateResult<Template> parse(std::string_view text);

  // Renders with `context`, an object: messages, tools, add_generation_prompt and what else the
  // template reads. What is not in it is undefined, as in Jinja.
  [[nodiscard]] TemplateResult<std::vector<TemplatePiece>> render(
      const nlohmann::ordered_json& context, const RenderOptions& options = {}) const;

  static constexpr size_t kMaximumBytes = size_t{1} << 20;

 private:
  explicit Template(std::shared_ptr<const TemplateTree> tree);

  std::shared_ptr<const TemplateTree> tree_;
};

}  // namespace mynah
