// The filters' tables, and what filters share.
#pragma once

#include <string_view>

#include "text/template/builtins.h"
#include "text/template/renderer.h"

namespace mynah::jinja {

// Those of find_filter's that work on sequences and mappings, and of them those that apply another
// filter or a test to each item.
[[nodiscard]] BuiltinFunction find_sequence_filter(std::string_view name);
[[nodiscard]] BuiltinFunction find_choosing_filter(std::string_view name);

// What a path leads to from a value: names and numbers with points between, "a.b.0", or one number
// (jinja2's make_attrgetter). `otherwise`, if any, stands for what is undefined.
[[nodiscard]] TemplateResult<Value> value_at(Renderer& renderer, const Value& from,
                                             const Value& path, const Value* otherwise = nullptr);

}  // namespace mynah::jinja
