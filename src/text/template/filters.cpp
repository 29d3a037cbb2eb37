// Filters of one value: texts, numbers, JSON.
#include "text/template/filters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/bound_arguments.h"
#include "text/template/json_text.h"
#include "text/template/printf.h"
#include "text/template/strings.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// A filter that makes a text of a text, whatever the value prints as.
template <MarkedText (*map)(const MarkedText&)>
TemplateResult<Value> mapped_text(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("the filter", given, {}));
  MYNAH_TRY(const MarkedText text, renderer.str(self));
  return renderer.heap().text(map(text));
}

MarkedText upper(const MarkedText& text) {
  return text.mapped(upper_case);
}

MarkedText lower(const MarkedText& text) {
  return text.mapped(lower_case);
}

// jinja2's title: what stands behind a blank, a dash or an opening bracket begins a word.
MarkedText words_titled(const MarkedText& text) {
  bool in_word = false;
  return text.mapped([&](std::string_view run) {
    std::string out;
    while (!run.empty()) {
      const Utf8Step step = next_code_point(run);
      const std::string_view one = run.substr(0, step.bytes);
      out += in_word ? lower_case(one) : upper_case(one);
      in_word = !is_python_space(step.code_point) && !std::string_view("-({[<").contains(one);
      run.remove_prefix(step.bytes);
    }
    return out;
  });
}

MarkedText as_it_is(const MarkedText& text) {
  return text;
}

MarkedText safe(const MarkedText& text) {
  MarkedText out = text;
  out.safe = true;
  return out;
}

MarkedText escape(const MarkedText& text) {
  return text.safe ? text : escaped(text);
}

TemplateResult<Value> tojson(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(
      const auto bound,
      BoundArguments::of("tojson", given, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style{.ensure_ascii = bound.flag(0), .sort_keys = bound.flag(3)};
  if (const Value* indent = bound.find_some(1)) {
    if (const MarkedText* text = indent->as_text()) {
      style.indent = std::string(text->view());
    } else {
      MYNAH_TRY(const Integer width, bound.integer(1, 0));
      constexpr Integer kWidest = 1000;
      style.indent = std::string(static_cast<size_t>(std::clamp<Integer>(width, 0, kWidest)), ' ');
    }
  }
  style.item_separator = MarkedText(style.indent ? "," : ", ");
  style.key_separator = MarkedText(": ");
  if (const Value* separators = bound.find_some(2)) {
    MYNAH_TRY(const std::vector<Value> pair, renderer.iterate(*separators));
    if (pair.size() != 2 || pair[0].as_text() == nullptr || pair[1].as_text() == nullptr) {
      return fault("tojson takes two texts as 'separators'");
    }
    style.item_separator = *pair[0].as_text();
    style.key_separator = *pair[1].as_text();
  }
  MYNAH_TRY(MarkedText text, json_text(renderer, self, style));
  return renderer.heap().text(std::move(text));
}

TemplateResult<Value> trim(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("trim", given, {"chars"}));
  MYNAH_TRY(MarkedText text, renderer.str(self));
  Arguments stripped;
  if (const Value* chars = bound.find_some(0)) {
    stripped.positional.push_back(*chars);
  }
  const Value value = renderer.heap().text(std::move(text));
  return find_method(value, "strip")(renderer, value, stripped);
}

TemplateResult<Value> replace(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("replace", given, {"old", "new", "count"}, 2));
  MYNAH_TRY(MarkedText text, renderer.str(self));
  Arguments replaced;
  for (const size_t i : {0, 1}) {
    MYNAH_TRY(MarkedText part, renderer.str(bound[i]));
    replaced.positional.push_back(renderer.heap().text(std::move(part)));
  }
  if (const Value* count = bound.find_some(2)) {
    replaced.positional.push_back(*count);
  }
  const Value value = renderer.heap().text(std::move(text));
  return find_method(value, "replace")(renderer, value, replaced);
}

TemplateResult<Value> center(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("center", given, {"width"}));
  MYNAH_TRY(MarkedText text, renderer.str(self));
  Arguments centered;
  centered.positional.push_back(bound.find(0) != nullptr ? bound[0] : Value::integer(80));
  const Value value = renderer.heap().text(std::move(text));
  return find_method(value, "center")(renderer, value, centered);
}

TemplateResult<Value> default_value(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("default", given, {"default_value", "boolean"}));
  if (!self.is_undefined() && (!bound.flag(1) || truth(self))) {
    return self;
  }
  return bound.find(0) != nullptr ? bound[0] : renderer.heap().text(std::string());
}

// Python's float(): nothing where the text is no number.
std::optional<double> parsed_real(std::string_view text) {
  std::string digits;
  for (const char c : trimmed(text)) {
    if (c != '_') {
      digits += ascii_lower(c);
    }
  }
  std::string_view number = digits;
  if (number.starts_with('+')) {
    number.remove_prefix(1);
  }
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_whole = !number.empty() && read.ptr == number.data() + number.size() &&
                        !number.starts_with("+") && read.ec != std::errc::invalid_argument;
  if (!is_whole) {
    return std::nullopt;
  }
  if (read.ec == std::errc::result_out_of_range) {
    value = std::strtod(std::string(number).c_str(), nullptr);
  }
  return value;
}

// Python's int() of a text in a base from 2 to 36.
std::optional<Integer> parsed_integer(std::string_view text, Integer base) {
  std::string_view digits = trimmed(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  if (digits.size() > 2 && digits[0] == '0') {
    const char kind = ascii_lower(digits[1]);
    if ((kind == 'x' && base == 16) || (kind == 'o' && base == 8) || (kind == 'b' && base == 2)) {
      digits.remove_prefix(2);
    }
  }
  Integer value = 0;
  if (digits.empty()) {
    return std::nullopt;
  }
  for (const char c : digits) {
    if (c == '_') {
      continue;
    }
    const char small = ascii_lower(c);
    const Integer digit = is_ascii_digit(c)       ? c - '0'
                          : is_ascii_lower(small) ? small - 'a' + 10
                                                  : Integer{99};
    if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return std::nullopt;
    }
  }
  return negative ? -value : value;
}

// A float without its fraction; nothing where it is no number that an integer holds.
std::optional<Integer> whole_part(double value) {
  constexpr double kLargest = 1e38;
  return std::abs(value) < kLargest ? std::optional(static_cast<Integer>(value)) : std::nullopt;
}

TemplateResult<Value> to_int(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("int", given, {"default", "base"}));
  MYNAH_TRY(const Integer base, bound.integer(1, 10));
  if (self.is_undefined()) {
    return undefined_fault(self);
  }
  std::optional<Integer> value = self.as_integer();
  std::optional<double> real;
  if (const MarkedText* text = self.as_text()) {
    value = parsed_integer(text->view(), base);
    real = parsed_real(text->view());
  } else if (self.as_real() != nullptr) {
    real = *self.as_real();
  }
  if (!value && real) {
    value = whole_part(*real);
  }
  return value ? Value::integer(*value) : bound.find(0) != nullptr ? bound[0] : Value::integer(0);
}

TemplateResult<Value> to_float(Renderer& /*renderer*/, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("float", given, {"default"}));
  if (self.is_undefined()) {
    return undefined_fault(self);
  }
  const MarkedText* text = self.as_text();
  const auto value = text != nullptr ? parsed_real(text->view()) : self.as_number();
  return value ? Value::real(*value) : bound.find(0) != nullptr ? bound[0] : Value::real(0);
}

TemplateResult<Value> absolute(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("abs", given, {}));
  if (const double* real = self.as_real()) {
    return Value::real(std::abs(*real));
  }
  if (const auto integer = self.as_integer(); integer && *integer >= 0) {
    return Value::integer(*integer);
  }
  return renderer.binary(BinaryOperator::Subtract, Value::integer(0), self);
}

TemplateResult<Value> round(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("round", given, {"precision", "method"}));
  MYNAH_TRY(const Integer precision, bound.integer(0, 0));
  MYNAH_TRY(const MarkedText method, bound.text(1, "common"));
  if (self.is_undefined()) {
    return undefined_fault(self);
  }
  const auto number = self.as_number();
  constexpr Integer kFinest = 300;
  if (!number || precision < -kFinest || precision > kFinest) {
    return fault(fmt::format("round takes a number, not {}", type_name(self)));
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  if (method.view() == "ceil") {
    return Value::real(std::ceil(*number * scale) / scale);
  }
  if (method.view() == "floor") {
    return Value::real(std::floor(*number * scale) / scale);
  }
  if (method.view() != "common") {
    return fault("round's method is common, ceil or floor");
  }
  if (precision < 0) {
    const double rounded = std::nearbyint(*number * scale) / scale;
    return self.as_real() != nullptr ? Value::real(rounded)
                                     : Value::integer(static_cast<Integer>(rounded));
  }
  if (self.as_real() == nullptr) {
    return Value::integer(*self.as_integer());
  }
  // By the digits of the number itself, as CPython does, not by a product that is rounded before.
  const std::string digits = fmt::format("{:.{}f}", *number, static_cast<int>(precision));
  (void)renderer;
  return Value::real(std::strtod(digits.c_str(), nullptr));
}

// For filters that take nothing but a text.
TemplateResult<MarkedText> text_itself(const Value& self, std::string_view filter) {
  if (self.is_undefined()) {
    return undefined_fault(self);
  }
  const MarkedText* text = self.as_text();
  return text != nullptr ? TemplateResult<MarkedText>(*text)
                         : fault(fmt::format("{} takes a text, not {}", filter, type_name(self)));
}

TemplateResult<Value> indent(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("indent", given, {"width", "first", "blank"}));
  MYNAH_TRY(const MarkedText text, text_itself(self, "indent"));
  MarkedText margin;
  if (const Value* width = bound.find(0); width != nullptr && width->as_text() != nullptr) {
    margin = *width->as_text();
  } else {
    MYNAH_TRY(const Integer count, bound.integer(0, 4));
    MYNAH_TRY(const size_t size, bounded_size(renderer, count));
    margin = MarkedText(std::string(size, ' '));
  }
  const auto lines = static_cast<size_t>(std::ranges::count(text.view(), '\n')) + 1;
  MYNAH_TRY_STATUS(
      bounded_size(renderer, static_cast<Integer>(lines) * static_cast<Integer>(margin.size())));
  MarkedText out;
  out.safe = text.safe;
  for (size_t at = 0, line = 0; line < lines; ++line) {
    const size_t end = std::min(text.view().find('\n', at), text.size());
    const bool is_indented = line == 0 ? bound.flag(1) : end > at || bound.flag(2);
    if (is_indented) {
      out.append(margin);
    }
    out.append_part(text, at, std::min(end + 1, text.size()));
    at = end + 1;
  }
  return renderer.heap().text(std::move(out));
}

TemplateResult<Value> wordcount(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY_STATUS(BoundArguments::of("wordcount", given, {}));
  MYNAH_TRY(const MarkedText text, renderer.str(self));
  Integer count = 0;
  bool in_word = false;
  for (std::string_view rest = text.view(); !rest.empty();) {
    const Utf8Step step = next_code_point(rest);
    const bool is_word = is_word_character(step.code_point);
    count += is_word && !in_word ? 1 : 0;
    in_word = is_word;
    rest.remove_prefix(step.bytes);
  }
  return Value::integer(count);
}

TemplateResult<Value> format(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const MarkedText pattern, renderer.str(self));
  if (!given.named.empty()) {
    auto dict = renderer.heap().make<Dict>();
    for (const auto& [name, value] : given.named) {
      dict->set(renderer.heap().text(name), value);
    }
    return printf_text(renderer, pattern, Value::object(std::move(dict)));
  }
  return printf_text(renderer, pattern,
                     renderer.heap().list(std::move(given.positional), List::Kind::Tuple));
}

TemplateResult<Value> truncate(Renderer& renderer, const Value& self, Arguments& given) {
  MYNAH_TRY(const auto bound,
            BoundArguments::of("truncate", given, {"length", "killwords", "end", "leeway"}));
  if (self.is_undefined()) {
    return self;
  }
  MYNAH_TRY(const MarkedText text, text_itself(self, "truncate"));
  MYNAH_TRY(const Integer length, bound.integer(0, 255));
  MYNAH_TRY(const MarkedText end, bound.text(2, "..."));
  MYNAH_TRY(const Integer leeway, bound.integer(3, 5));
  const auto end_length = static_cast<Integer>(count_code_points(end.view()));
  if (length < end_length || leeway < 0) {
    return fault("truncate wants a length of at least its end's, and no leeway below 0");
  }
  if (static_cast<Integer>(count_code_points(text.view())) <= length + leeway) {
    return renderer.heap().text(text);
  }
  size_t stop = offset_of_code_point(text.view(), static_cast<size_t>(length - end_length));
  if (!bound.flag(1)) {
    const size_t space = text.view().substr(0, stop).rfind(' ');
    stop = space == std::string_view::npos ? stop : space;
  }
  MarkedText out = text.part(0, stop);
  out.append(end);
  return renderer.heap().text(std::move(out));
}

constexpr auto kFilters = std::to_array<std::pair<std::string_view, BuiltinFunction>>({
    {"upper", mapped_text<upper>},
    {"lower", mapped_text<lower>},
    {"title", mapped_text<words_titled>},
    {"capitalize", mapped_text<capitalized>},
    {"string", mapped_text<as_it_is>},
    {"safe", mapped_text<safe>},
    {"escape", mapped_text<escape>},
    {"e", mapped_text<escape>},
    {"forceescape", mapped_text<escaped>},
    {"tojson", tojson},
    {"trim", trim},
    {"replace", replace},
    {"center", center},
    {"default", default_value},
    {"d", default_value},
    {"int", to_int},
    {"float", to_float},
    {"abs", absolute},
    {"round", round},
    {"indent", indent},
    {"wordcount", wordcount},
    {"format", format},
    {"truncate", truncate},
});

}  // namespace

BuiltinFunction find_filter(std::string_view name) {
  for (const auto& [known, function] : kFilters) {
    if (known == name) {
      return function;
    }
  }
  return find_sequence_filter(name);
}

}  // namespace mynah::jinja
