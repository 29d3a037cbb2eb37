// str() and repr() of values.
#include <fmt/format.h>

#include "text/template/renderer.h"
#include "text/template/strings.h"

namespace mynah::jinja {

namespace {

std::string_view brackets_of(List::Kind kind) {
  switch (kind) {
    case List::Kind::Tuple:
      return "()";
    case List::Kind::Keys:
      return "dict_keys([])";
    case List::Kind::Values:
      return "dict_values([])";
    case List::Kind::Items:
      return "dict_items([])";
    default:
      return "[]";
  }
}

// repr() of what has items; `add` writes a value behind what is there of a text.
template <class Add>
TemplateResult<MarkedText> repr_of_list(const List& list, const Add& add) {
  if (list.kind == List::Kind::Range) {
    return MarkedText(list.range);
  }
  if (list.kind == List::Kind::Generator) {
    return unsupported("a lazy value is written as Python's address of it: use |list or |join");
  }
  MarkedText out;
  const std::string_view brackets = brackets_of(list.kind);
  const size_t open = brackets.find_last_of("[(");
  const size_t inside = brackets.ends_with("])") ? brackets.size() - 2 : open + 1;
  out.append(brackets.substr(0, inside), false);
  for (size_t i = 0; i < list.items.size(); ++i) {
    out.append(i > 0 ? ", " : "", false);
    MYNAH_TRY_STATUS(add(out, list.items[i]));
  }
  out.append(list.kind == List::Kind::Tuple && list.items.size() == 1 ? "," : "", false);
  out.append(brackets.substr(inside), false);
  return out;
}

}  // namespace

TemplateResult<MarkedText> Renderer::str(const Value& value) {
  if (const MarkedText* text = value.as_text()) {
    return *text;
  }
  return value.is_undefined() ? MarkedText() : repr(value);
}

TemplateResult<MarkedText> Renderer::repr(const Value& value) {
  const Level level(*this);
  heap_.charge(1);
  MYNAH_TRY_STATUS(level.check());
  if (const MarkedText* text = value.as_text()) {
    heap_.charge_bytes(text->size());
    if (!text->safe) {
      return quoted(*text);
    }
    MarkedText markup("Markup(");
    markup.append(quoted(*text));
    markup.append(")", false);
    return markup;
  }
  if (value.is_undefined()) {
    return MarkedText("Undefined");
  }
  if (value.is_none()) {
    return MarkedText("None");
  }
  if (const bool* boolean = value.as_boolean()) {
    return MarkedText(*boolean ? "True" : "False");
  }
  if (const auto integer = value.as_integer()) {
    return MarkedText(fmt::to_string(*integer));
  }
  if (const double* real = value.as_real()) {
    return MarkedText(float_text(*real));
  }
  const auto add = [this](MarkedText& to, const Value& one) -> TemplateResult<void> {
    MYNAH_TRY(const MarkedText text, repr(one));
    MYNAH_TRY_STATUS(heap_.check_room(to.size() + text.size()));
    heap_.charge_bytes(text.size());
    to.append(text);
    return {};
  };
  if (const auto* list = value.as<List>()) {
    return repr_of_list(*list, add);
  }
  MarkedText out;
  if (const auto* dict = value.as<Dict>()) {
    out.append("{", false);
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      out.append(i > 0 ? ", " : "", false);
      MYNAH_TRY_STATUS(add(out, dict->entries[i].first));
      out.append(": ", false);
      MYNAH_TRY_STATUS(add(out, dict->entries[i].second));
    }
    out.append("}", false);
    return out;
  }
  if (const auto* names = value.as<Namespace>()) {
    out.append("<Namespace {", false);
    for (size_t i = 0; i < names->attributes.size(); ++i) {
      out.append(i > 0 ? ", " : "", false);
      out.append(quoted(MarkedText(names->attributes[i].first)));
      out.append(": ", false);
      MYNAH_TRY_STATUS(add(out, names->attributes[i].second));
    }
    out.append("}>", false);
    return out;
  }
  if (const auto* macro = value.as<MacroFunction>()) {
    return MarkedText(
        fmt::format("<Macro {}>", quoted(MarkedText(macro->definition->name)).view()));
  }
  if (const auto* loop = value.as<Loop>(); loop != nullptr && loop->statement->test == nullptr) {
    return MarkedText(
        fmt::format("<LoopContext {}/{}>", loop->index0 + 1,
                    loop->index0 + 1 + loop->ready.size() + loop->values.size() - loop->next));
  }
  return unsupported("a function is written as Python's address of it, which says nothing");
}

}  // namespace mynah::jinja
