// Methods of str that take it apart.
#include <algorithm>
#include <array>

#include "text/template/bound_arguments.h"
#include "text/template/methods.h"
#include "text/template/strings.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// Lists parts of a text.
Value listed(Renderer& renderer, const MarkedText& text,
             const std::vector<std::pair<size_t, size_t>>& parts,
             List::Kind kind = List::Kind::List) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const auto& [begin, end] : parts) {
    items.push_back(renderer.heap().text(text.part(begin, end)));
  }
  return renderer.heap().list(std::move(items), kind);
}

std::vector<std::pair<size_t, size_t>> words_of(std::string_view text, Integer most) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t at = leading_space(text);
  while (at < text.size()) {
    if (most >= 0 && static_cast<Integer>(parts.size()) == most) {
      parts.emplace_back(at, text.size());
      break;
    }
    size_t end = at;
    while (end < text.size() && !is_python_space(next_code_point(text.substr(end)).code_point)) {
      end += next_code_point(text.substr(end)).bytes;
    }
    parts.emplace_back(at, end);
    at = end + leading_space(text.substr(end));
  }
  return parts;
}

// From the right, at most so many cuts.
std::vector<std::pair<size_t, size_t>> last_words_of(std::string_view text, Integer most) {
  auto parts = words_of(text, -1);
  if (most >= 0 && static_cast<Integer>(parts.size()) > most + 1) {
    const auto rest = parts.end() - static_cast<std::ptrdiff_t>(most);
    std::vector<std::pair<size_t, size_t>> out = {{0, (rest - 1)->second}};
    out.insert(out.end(), rest, parts.end());
    return out;
  }
  return parts;
}

std::vector<std::pair<size_t, size_t>> parts_of(std::string_view text, std::string_view separator,
                                                Integer most, bool from_right) {
  std::vector<std::pair<size_t, size_t>> parts;
  if (from_right) {
    size_t end = text.size();
    while (most < 0 || static_cast<Integer>(parts.size()) < most) {
      const size_t at = end < separator.size() ? std::string_view::npos
                                               : text.rfind(separator, end - separator.size());
      if (at == std::string_view::npos) {
        break;
      }
      parts.emplace_back(at + separator.size(), end);
      end = at;
    }
    parts.emplace_back(0, end);
    std::ranges::reverse(parts);
    return parts;
  }
  size_t begin = 0;
  while (most < 0 || static_cast<Integer>(parts.size()) < most) {
    const size_t at = text.find(separator, begin);
    if (at == std::string_view::npos) {
      break;
    }
    parts.emplace_back(begin, at);
    begin = at + separator.size();
  }
  parts.emplace_back(begin, text.size());
  return parts;
}

template <bool from_right>
TemplateResult<Value> text_split(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("split", given, {"sep", "maxsplit"}));
  MYNAH_TRY(const Integer most, bound.integer(1, -1));
  const MarkedText& text = *self.as_text();
  // Each part may be small: what holds it is not.
  MYNAH_TRY_STATUS(renderer.heap().check_room(text.size() * sizeof(Value)));
  renderer.heap().charge_bytes(text.size());
  if (bound.find_some(0) == nullptr) {
    return listed(renderer, text,
                  from_right ? last_words_of(text.view(), most) : words_of(text.view(), most));
  }
  MYNAH_TRY(const MarkedText separator, bound.text(0, ""));
  if (separator.empty()) {
    return fault("a text cannot be split at an empty one");
  }
  return listed(renderer, text, parts_of(text.view(), separator.view(), most, from_right));
}

TemplateResult<Value> text_splitlines(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("splitlines", given, {"keepends"}));
  static constexpr std::u32string_view kBreaks = U"\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029";
  const MarkedText& text = *self.as_text();
  const std::string_view view = text.view();
  MYNAH_TRY_STATUS(renderer.heap().check_room(text.size() * sizeof(Value)));
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t begin = 0, at = 0; at < view.size();) {
    const Utf8Step step = next_code_point(view.substr(at));
    size_t next = at + step.bytes;
    if (!kBreaks.contains(step.code_point)) {
      at = next;
      if (at == view.size()) {
        parts.emplace_back(begin, at);
      }
      continue;
    }
    next += step.code_point == U'\r' && view.substr(next).starts_with('\n') ? 1 : 0;
    parts.emplace_back(begin, bound.flag(0) ? next : at);
    begin = at = next;
  }
  return listed(renderer, text, parts);
}

template <bool from_right>
TemplateResult<Value> text_partition(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("partition", given, {"sep"}, 1));
  MYNAH_TRY(const MarkedText separator, bound.text(0, ""));
  if (separator.empty()) {
    return fault("a text cannot be parted at an empty one");
  }
  const MarkedText& text = *self.as_text();
  const size_t at =
      from_right ? text.view().rfind(separator.view()) : text.view().find(separator.view());
  if (at == std::string_view::npos) {
    const size_t cut = from_right ? 0 : text.size();
    return listed(renderer, text, {{0, cut}, {cut, cut}, {cut, text.size()}}, List::Kind::Tuple);
  }
  const size_t end = at + separator.size();
  return listed(renderer, text, {{0, at}, {at, end}, {end, text.size()}}, List::Kind::Tuple);
}

constexpr auto kSplittingMethods = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"split", text_split<false>},
    {"rsplit", text_split<true>},
    {"splitlines", text_splitlines},
    {"partition", text_partition<false>},
    {"rpartition", text_partition<true>},
});

}  // namespace

BuiltinFunction find_splitting_method(std::string_view name) {
  for (const auto& [known, function] : kSplittingMethods) {
    if (known == name) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace mynah::jinja
