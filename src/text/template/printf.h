// Texts made by a pattern: "%s" % values, and "{}".format(values).
#pragma once

#include "text/template/renderer.h"

namespace mynah::jinja {

// Python's printf-style formatting with one value, a tuple of them or a mapping. The conversions
// are % s r d i u x X o e E f F g G c, with flags, width and precision.
[[nodiscard]] TemplateResult<Value> printf_text(Renderer& renderer, const MarkedText& pattern,
                                                const Value& values);

// str.format: fields by number or name, with .name and [key] of them, !s and !r, and a
// specification of fill, alignment, sign, width, precision and the types s d x X o b e f g %.
[[nodiscard]] TemplateResult<Value> format_text(Renderer& renderer, const MarkedText& pattern,
                                                const Arguments& arguments);

}  // namespace mynah::jinja
