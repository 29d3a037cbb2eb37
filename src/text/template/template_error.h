// What becomes of a template that cannot be read or rendered, and what rendering may use.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include "base/result.h"

namespace mynah {

// What a template may use before it is stopped. A template of the 70 that llama.cpp collects needs
// some 100 steps a message and 20 of depth.
struct RenderLimits {
  size_t steps = 20'000'000;  // nodes evaluated, and one more for every 64 bytes copied or read
  size_t output_bytes = size_t{64} << 20;
  size_t memory_bytes = size_t{512} << 20;  // of strings, lists and mappings alive at one time
  size_t depth = 300;  // nodes and values within each other, macros within macros included
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

}  // namespace mynah
