// Methods of str.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/template/bound_arguments.h"
#include "text/template/methods.h"
#include "text/template/printf.h"
#include "text/template/strings.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

const MarkedText& text_of(const Value& self) {
  return *self.as_text();
}

template <MarkedText (*map)(const MarkedText&)>
TemplateResult<Value> text_mapped(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the method", given, {}));
  return renderer.heap().text(map(text_of(self)));
}

MarkedText text_upper(const MarkedText& text) {
  return text.mapped(upper_case);
}

MarkedText text_lower(const MarkedText& text) {
  return text.mapped(lower_case);
}

MarkedText text_swapped(const MarkedText& text) {
  return text.mapped([](std::string_view run) {
    std::string out;
    while (!run.empty()) {
      const std::string_view one = run.substr(0, next_code_point(run).bytes);
      out += is_of_case(one, true) ? lower_case(one) : upper_case(one);
      run.remove_prefix(one.size());
    }
    return out;
  });
}

// How many bytes at the begin (or the end) are code points of `chars`.
size_t stripped_bytes(std::string_view text, std::string_view chars, bool at_begin) {
  size_t count = 0;
  while (count < text.size()) {
    size_t begin = at_begin ? count : text.size() - count - 1;
    while (!at_begin && begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) {
      --begin;
    }
    const std::string_view one = text.substr(begin, next_code_point(text.substr(begin)).bytes);
    if (!chars.contains(one)) {
      break;
    }
    count += one.size();
  }
  return count;
}

template <bool left, bool right>
TemplateResult<Value> text_strip(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("strip", given, {"chars"}));
  const MarkedText& text = text_of(self);
  size_t begin = 0;
  size_t end = text.size();
  if (bound.find_some(0) == nullptr) {
    begin = left ? leading_space(text.view()) : 0;
    end -= right && begin < end ? trailing_space(text.view()) : 0;
  } else {
    MYNAH_TRY(const MarkedText chars, bound.text(0, ""));
    begin = left ? stripped_bytes(text.view(), chars.view(), true) : 0;
    end -= right && begin < end ? stripped_bytes(text.view(), chars.view(), false) : 0;
  }
  return renderer.heap().text(text.part(begin, end));
}

// Begin and end of startswith, find and their kin, in bytes; nothing where begin is behind the end.
TemplateResult<std::optional<std::pair<size_t, size_t>>> bounds_of(Renderer& renderer,
                                                                   std::string_view text,
                                                                   const BoundArguments& bound) {
  if (bound.find_some(1) == nullptr && bound.find_some(2) == nullptr) {
    return std::pair<size_t, size_t>(0, text.size());
  }
  renderer.heap().charge_bytes(3 * text.size());
  const auto length = static_cast<Integer>(count_code_points(text));
  const auto bounded = [&](Integer at) {
    return std::clamp<Integer>(at < 0 ? at + length : at, 0, length);
  };
  MYNAH_TRY(const Integer begin, bound.find_some(1) != nullptr ? bound.integer(1, 0) : 0);
  MYNAH_TRY(const Integer end, bound.find_some(2) != nullptr ? bound.integer(2, 0) : length);
  if (begin > length || bounded(begin) > bounded(end)) {
    return std::nullopt;
  }
  return std::pair(offset_of_code_point(text, static_cast<size_t>(bounded(begin))),
                   offset_of_code_point(text, static_cast<size_t>(bounded(end))));
}

template <bool at_begin>
TemplateResult<Value> text_has_affix(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of(at_begin ? "startswith" : "endswith", given,
                                                 {"prefix", "start", "end"}, 1));
  const std::string_view text = text_of(self).view();
  MYNAH_TRY(const auto bounds, bounds_of(renderer, text, bound));
  std::vector<Value> affixes = {bound[0]};
  if (const auto* tuple = bound[0].as<List>();
      tuple != nullptr && tuple->kind == List::Kind::Tuple) {
    affixes = tuple->items;
  }
  bool found = false;
  for (const Value& affix : affixes) {
    const MarkedText* wanted = affix.as_text();
    if (wanted == nullptr) {
      return affix.is_undefined()
                 ? undefined_fault(affix)
                 : fault(fmt::format("{} takes a text or a tuple of them, not {}",
                                     at_begin ? "startswith" : "endswith", type_name(affix)));
    }
    if (bounds) {
      const std::string_view part = text.substr(bounds->first, bounds->second - bounds->first);
      found |= at_begin ? part.starts_with(wanted->view()) : part.ends_with(wanted->view());
    }
  }
  return Value::boolean(found);
}

// str.find and rfind, or index and rindex, for which nothing found is a fault.
template <bool from_right, bool must_be_there>
TemplateResult<Value> text_find(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("find", given, {"sub", "start", "end"}, 1));
  MYNAH_TRY(const MarkedText wanted, bound.text(0, ""));
  const std::string_view text = text_of(self).view();
  renderer.heap().charge_bytes(text.size());
  MYNAH_TRY(const auto bounds, bounds_of(renderer, text, bound));
  size_t at = std::string_view::npos;
  if (bounds) {
    const std::string_view part = text.substr(bounds->first, bounds->second - bounds->first);
    at = from_right ? part.rfind(wanted.view()) : part.find(wanted.view());
  }
  if (at != std::string_view::npos) {
    return Value::integer(
        static_cast<Integer>(count_code_points(text.substr(0, bounds->first + at))));
  }
  return must_be_there ? TemplateResult<Value>(fault("the text that is looked for is not there"))
                       : Value::integer(-1);
}

TemplateResult<Value> text_count(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("count", given, {"sub", "start", "end"}, 1));
  MYNAH_TRY(const MarkedText wanted, bound.text(0, ""));
  const std::string_view text = text_of(self).view();
  renderer.heap().charge_bytes(text.size());
  MYNAH_TRY(const auto bounds, bounds_of(renderer, text, bound));
  if (!bounds) {
    return Value::integer(0);
  }
  const std::string_view part = text.substr(bounds->first, bounds->second - bounds->first);
  if (wanted.empty()) {
    return Value::integer(static_cast<Integer>(count_code_points(part)) + 1);
  }
  Integer count = 0;
  for (size_t at = part.find(wanted.view()); at != std::string_view::npos;
       at = part.find(wanted.view(), at + wanted.size())) {
    ++count;
  }
  return Value::integer(count);
}

TemplateResult<Value> text_replace(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("replace", given, {"old", "new", "count"}, 2));
  MYNAH_TRY(const MarkedText old, bound.text(0, ""));
  MYNAH_TRY(const MarkedText by, bound.text(1, ""));
  MYNAH_TRY(const Integer most, bound.integer(2, -1));
  const MarkedText& text = text_of(self);
  renderer.heap().charge_bytes(text.size());
  const size_t places = old.empty() ? text.size() + 1 : text.size() / old.size();
  if (places * by.size() > text.size()) {
    // So many there may be: count them before there is no room for what they become.
    size_t found = places;
    if (!old.empty()) {
      found = 0;
      for (size_t at = text.view().find(old.view()); at != std::string_view::npos;
           at = text.view().find(old.view(), at + old.size())) {
        ++found;
      }
    }
    MYNAH_TRY_STATUS(
        bounded_size(renderer, static_cast<Integer>(found) * static_cast<Integer>(by.size())));
  }
  constexpr Integer kAll = Integer{1} << 62;
  const auto count = static_cast<long long>(std::clamp<Integer>(most, -1, kAll));
  return renderer.heap().text(replaced(text, old.view(), by, count));
}

template <bool at_begin>
TemplateResult<Value> text_without_affix(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("removeprefix", given, {"affix"}, 1));
  MYNAH_TRY(const MarkedText affix, bound.text(0, ""));
  const MarkedText& text = text_of(self);
  const bool has =
      at_begin ? text.view().starts_with(affix.view()) : text.view().ends_with(affix.view());
  const size_t cut = has ? affix.size() : 0;
  return renderer.heap().text(text.part(at_begin ? cut : 0, text.size() - (at_begin ? 0 : cut)));
}

TemplateResult<Value> text_join(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("join", given, {"iterable"}, 1));
  MYNAH_TRY(const std::vector<Value> values, renderer.iterate(bound[0]));
  const MarkedText& separator = text_of(self);
  MarkedText out;
  out.safe = separator.safe;
  for (size_t i = 0; i < values.size(); ++i) {
    const MarkedText* text = values[i].as_text();
    if (text == nullptr) {
      return values[i].is_undefined()
                 ? undefined_fault(values[i])
                 : fault(fmt::format("join takes texts, not {}", type_name(values[i])));
    }
    MYNAH_TRY_STATUS(renderer.heap().check_room(out.size() + text->size() + separator.size()));
    if (i > 0) {
      out.append(separator);
    }
    out.append(*text);
  }
  return renderer.heap().text(std::move(out));
}

enum class Side : uint8_t { Left, Right, Both };

template <Side side>
TemplateResult<Value> text_padded(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("center", given, {"width", "fillchar"}, 1));
  MYNAH_TRY(const Integer width, bound.integer(0, 0));
  MYNAH_TRY(const MarkedText fill, bound.text(1, " "));
  if (count_code_points(fill.view()) != 1) {
    return fault("what fills a text up is one character");
  }
  const MarkedText& text = text_of(self);
  const Integer missing =
      std::max<Integer>(0, width - static_cast<Integer>(count_code_points(text.view())));
  MYNAH_TRY(const size_t size, bounded_size(renderer, missing * static_cast<Integer>(fill.size())));
  const size_t count = size / fill.size();
  // CPython's str.center puts the odd one to the left where the width is odd.
  const size_t half = count / 2 + (count % 2 == 1 && width % 2 == 1 ? 1 : 0);
  const size_t before = side == Side::Left ? count : (side == Side::Right ? 0 : half);
  MarkedText out;
  out.safe = text.safe;
  for (size_t i = 0; i < before; ++i) {
    out.append(fill);
  }
  out.append(text);
  for (size_t i = before; i < count; ++i) {
    out.append(fill);
  }
  return renderer.heap().text(std::move(out));
}

TemplateResult<Value> text_zfill(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("zfill", given, {"width"}, 1));
  MYNAH_TRY(const Integer width, bound.integer(0, 0));
  const MarkedText& text = text_of(self);
  MYNAH_TRY(const size_t missing,
            bounded_size(renderer, width - static_cast<Integer>(count_code_points(text.view()))));
  const size_t sign = text.view().starts_with('-') || text.view().starts_with('+') ? 1 : 0;
  MarkedText out = text.part(0, sign);
  out.append(std::string(missing, '0'), false);
  out.append_part(text, sign, text.size());
  return renderer.heap().text(std::move(out));
}

using CharacterTest = bool (*)(char32_t);

bool is_alnum_character(char32_t c) {
  return is_letter(c) || is_number(c);
}

bool is_digit_character(char32_t c) {
  return decimal_digit(c).has_value();
}

bool is_ascii_character(char32_t c) {
  return c < 0x80;
}

template <CharacterTest test, bool if_empty = false>
TemplateResult<Value> text_all(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the method", given, {}));
  std::string_view text = text_of(self).view();
  renderer.heap().charge_bytes(text.size());
  bool all = if_empty || !text.empty();
  while (all && !text.empty()) {
    const Utf8Step step = next_code_point(text);
    all = test(step.code_point);
    text.remove_prefix(step.bytes);
  }
  return Value::boolean(all);
}

template <bool upper>
TemplateResult<Value> text_is_case(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the method", given, {}));
  return Value::boolean(is_of_case(text_of(self).view(), upper));
}

TemplateResult<Value> text_format(Renderer& renderer, const Value& self, Arguments& given) {
  return format_text(renderer, text_of(self), given);
}

TemplateResult<Value> text_unsupported(Renderer& /*renderer*/, const Value& /*self*/,
                                       Arguments& /*given*/) {
  return unsupported("this method of Python's texts is none of mynah's");
}

constexpr auto kTextMethods = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"strip", text_strip<true, true>},
    {"lstrip", text_strip<true, false>},
    {"rstrip", text_strip<false, true>},
    {"startswith", text_has_affix<true>},
    {"endswith", text_has_affix<false>},
    {"removeprefix", text_without_affix<true>},
    {"removesuffix", text_without_affix<false>},
    {"replace", text_replace},
    {"find", text_find<false, false>},
    {"rfind", text_find<true, false>},
    {"index", text_find<false, true>},
    {"rindex", text_find<true, true>},
    {"count", text_count},
    {"join", text_join},
    {"format", text_format},
    {"upper", text_mapped<text_upper>},
    {"lower", text_mapped<text_lower>},
    {"title", text_mapped<titled>},
    {"capitalize", text_mapped<capitalized>},
    {"swapcase", text_mapped<text_swapped>},
    {"center", text_padded<Side::Both>},
    {"ljust", text_padded<Side::Right>},
    {"rjust", text_padded<Side::Left>},
    {"zfill", text_zfill},
    {"isalnum", text_all<is_alnum_character>},
    {"isalpha", text_all<is_letter>},
    {"isascii", text_all<is_ascii_character, true>},
    {"isdecimal", text_all<is_digit_character>},
    {"isdigit", text_all<is_digit_character>},
    {"isnumeric", text_all<is_number>},
    {"isspace", text_all<is_python_space>},
    {"isupper", text_is_case<true>},
    {"islower", text_is_case<false>},
    {"casefold", text_unsupported},
    {"encode", text_unsupported},
    {"expandtabs", text_unsupported},
    {"format_map", text_unsupported},
    {"isidentifier", text_unsupported},
    {"isprintable", text_unsupported},
    {"istitle", text_unsupported},
    {"maketrans", text_unsupported},
    {"translate", text_unsupported},
});

}  // namespace

BuiltinFunction find_text_method(std::string_view name) {
  for (const auto& [known, function] : kTextMethods) {
    if (known == name) {
      return function;
    }
  }
  return find_splitting_method(name);
}

}  // namespace mynah::jinja
