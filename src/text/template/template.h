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
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

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

// What a template may use before it is stopped. A template of the 70 that llama.cpp collects needs
// some 100 steps a message and 20 of depth.
struct RenderLimits {
  size_t steps = 20'000'000;  // nodes evaluated, and one more for every 64 bytes copied or read
  size_t output_bytes = size_t{64} << 20;
  size_t memory_bytes = size_t{512} << 20;  // of strings, lists and mappings alive at one time
  size_t depth = 300;  // nodes and values within each other, macros within macros included
};

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

// Why a template could not be read or rendered.
struct TemplateError {
  enum class Kind {
    Syntax,       // the template is not Jinja
    Unsupported,  // it uses a part of Jinja or Python that mynah does not have
    Fault,        // a value is not what an operation takes, as Python would raise
    Refusal,      // the template called raise_exception: `message` is its own text
    Limit         // one of RenderLimits, named in `message`
  };

  Kind kind = Kind::Fault;
  size_t line = 0;  // of the template, from 1
  std::string message;

  // One sentence with the line in it, for whoever wants no more: Unsupported for that kind, else
  // InvalidInput.
  operator Error() const;  // NOLINT(google-explicit-constructor): so that MYNAH_TRY passes it on
};

template <class T>
using TemplateResult = std::expected<T, TemplateError>;

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
