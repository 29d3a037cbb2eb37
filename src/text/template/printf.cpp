#include "text/template/printf.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/template/bound_arguments.h"
#include "text/template/strings.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

constexpr size_t kWidest = 10'000;  // of a field: more is no text for a reader

// How a field is set: of both kinds of pattern.
struct FieldStyle {
  std::string fill = " ";
  char align = '\0';  // < > ^ or =, which puts the filling behind the sign; NUL: as the type has it
  char sign = '\0';   // + or a blank for what is not below zero
  bool alternate = false;
  bool grouped = false;  // thousands apart by commas
  size_t width = 0;
  std::optional<size_t> precision{};
  char type = '\0';
};

// A number's digits without its sign.
TemplateResult<std::string> digits_of(const Value& value, const FieldStyle& style) {
  const auto integer = value.as_integer();
  const char type = style.type == '\0' ? (value.as_real() != nullptr ? 'r' : 'd') : style.type;
  if (std::string_view("dxXob").contains(type)) {
    if (!integer) {
      return fault(
          fmt::format("a field of type {} takes a whole number, not {}", type, type_name(value)));
    }
    const Integer size = *integer < 0 ? -*integer : *integer;
    std::string digits = type == 'd'   ? fmt::format("{}", size)
                         : type == 'x' ? fmt::format("{:x}", size)
                         : type == 'X' ? fmt::format("{:X}", size)
                         : type == 'o' ? fmt::format("{:o}", size)
                                       : fmt::format("{:b}", size);
    if (style.precision && digits.size() < *style.precision) {
      digits.insert(0, *style.precision - digits.size(), '0');
    }
    if (style.grouped && type == 'd') {
      for (size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, 1, ',');
      }
    }
    if (style.alternate && type != 'd') {
      digits.insert(0, std::string("0") + type);
    }
    return digits;
  }
  const auto number = value.as_number();
  if (!number) {
    return fault(fmt::format("a field of type {} takes a number, not {}", type, type_name(value)));
  }
  const double size = std::abs(*number);
  if (type == 'r') {
    return float_text(size);
  }
  const auto precision = static_cast<int>(style.precision.value_or(6));
  switch (type) {
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", size, precision);
    case 'e':
      return fmt::format("{:.{}e}", size, precision);
    case 'E':
      return fmt::format("{:.{}E}", size, precision);
    case 'g':
      return fmt::format("{:.{}g}", size, precision);
    case 'G':
      return fmt::format("{:.{}G}", size, precision);
    default:
      return fmt::format("{:.{}f}%", size * 100, precision);
  }
}

// A text within a field's width.
void append_field(MarkedText& out, const FieldStyle& style, std::string_view sign,
                  const MarkedText& body, char natural_align) {
  const size_t length = sign.size() + count_code_points(body.view());
  const size_t missing = style.width > length ? style.width - length : 0;
  const char align = style.align != '\0' ? style.align : natural_align;
  const size_t before = align == '>' || align == '=' ? missing : (align == '^' ? missing / 2 : 0);
  const auto fill = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      out.append(style.fill, false);
    }
  };
  if (align == '=') {
    out.append(sign, false);
    fill(before);
  } else {
    fill(before);
    out.append(sign, false);
  }
  out.append(body);
  fill(missing - before);
}

TemplateResult<void> append_value(MarkedText& out, const Value& value, const FieldStyle& style) {
  if (!value.as_number()) {
    if (value.as_text() == nullptr) {
      return fault(fmt::format("{} has no format of its own", type_name(value)));
    }
    if (style.grouped || (style.type != 's' && style.type != '\0')) {
      return fault("a text has the format of a number");
    }
    MarkedText text = *value.as_text();
    if (style.precision) {
      text = text.part(0, offset_of_code_point(text.view(), *style.precision));
    }
    append_field(out, style, "", text, '<');
    return {};
  }
  MYNAH_TRY(std::string digits, digits_of(value, style));
  const bool is_negative = std::signbit(value.as_number().value_or(0));
  const std::string sign = is_negative ? "-" : std::string(style.sign == '\0' ? 0 : 1, style.sign);
  append_field(out, style, sign, MarkedText(std::move(digits)), '>');
  return {};
}

// A number within a pattern; advances `at`.
std::optional<size_t> number_at(std::string_view text, size_t& at) {
  size_t value = 0;
  const size_t begin = at;
  while (at < text.size() && is_ascii_digit(text[at])) {
    value = std::min(value * 10 + static_cast<size_t>(text[at] - '0'), kWidest + 1);
    ++at;
  }
  return at == begin ? std::nullopt : std::optional(value);
}

std::unexpected<TemplateError> wrong_pattern(std::string_view pattern) {
  return fault(fmt::format("a format's pattern is wrong: {}", pattern.substr(0, 80)));
}

// The values of a printf-style pattern, one after the other.
struct PrintfValues {
  const Value& given;
  size_t next = 0;

  [[nodiscard]] const List* tuple() const {
    const auto* list = given.as<List>();
    return list != nullptr && list->kind == List::Kind::Tuple ? list : nullptr;
  }

  TemplateResult<Value> take() {
    const size_t index = next++;
    const List* list = tuple();
    if (list == nullptr ? index > 0 : index >= list->items.size()) {
      return fault("a format has more fields than there are values");
    }
    return list == nullptr ? given : list->items[index];
  }

  [[nodiscard]] bool is_used_up() const {
    const List* list = tuple();
    return list == nullptr ? next > 0 || given.is_undefined() || given.as<Dict>() != nullptr ||
                                 given.as<List>() != nullptr
                           : next == list->items.size();
  }
};

// One "%..." from behind its sign; advances `at`.
TemplateResult<void> append_printf_field(Renderer& renderer, MarkedText& out,
                                         std::string_view pattern, size_t& at,
                                         PrintfValues& values) {
  std::optional<Value> named;
  if (pattern.substr(at).starts_with('(')) {
    const size_t end = pattern.find(')', at);
    const auto* dict = values.given.as<Dict>();
    if (end == std::string_view::npos || dict == nullptr) {
      return wrong_pattern(pattern);
    }
    const Value* found = dict->find(pattern.substr(at + 1, end - at - 1));
    if (found == nullptr) {
      return fault(fmt::format("a format names '{}', which is not given",
                               pattern.substr(at + 1, end - at - 1)));
    }
    named = *found;
    at = end + 1;
  }
  FieldStyle style;
  for (; at < pattern.size() && std::string_view("-+ #0").contains(pattern[at]); ++at) {
    const char flag = pattern[at];
    if (flag == '-') {
      style.align = '<';
      style.fill = " ";
    } else if (flag == '0' && style.align != '<') {
      style.align = '=';
      style.fill = "0";
    } else if (flag == '#') {
      style.alternate = true;
    } else if (flag == '+' || (flag == ' ' && style.sign == '\0')) {
      style.sign = flag;
    }
  }
  style.width = number_at(pattern, at).value_or(0);
  if (pattern.substr(at).starts_with('.')) {
    ++at;
    style.precision = number_at(pattern, at).value_or(0);
  }
  if (at >= pattern.size() || style.width > kWidest || style.precision.value_or(0) > kWidest) {
    return wrong_pattern(pattern);
  }
  style.type = pattern[at];
  ++at;
  if (style.type == '%') {
    out.append("%", false);
    return {};
  }
  if (!std::string_view("srdiuxXoeEfFgGc").contains(style.type)) {
    return wrong_pattern(pattern);
  }
  MYNAH_TRY(Value value, named ? TemplateResult<Value>(*named) : values.take());
  if (style.type == 's' || style.type == 'r' || style.type == 'c') {
    MYNAH_TRY(MarkedText text, style.type == 'r' ? renderer.repr(value) : renderer.str(value));
    style.align = style.align == '<' ? '<' : '>';
    style.fill = " ";
    style.type = 's';
    value = renderer.heap().text(std::move(text));
  } else if (style.type == 'i' || style.type == 'u' || style.type == 'd') {
    style.type = 'd';
    if (const double* real = value.as_real(); real != nullptr && std::abs(*real) < 1e30) {
      value = Value::integer(static_cast<Integer>(*real));
    }
  }
  return append_value(out, value, style);
}

}  // namespace

TemplateResult<Value> printf_text(Renderer& renderer, const MarkedText& pattern,
                                  const Value& values) {
  MarkedText out;
  out.safe = pattern.safe;
  PrintfValues given{.given = values};
  const std::string_view view = pattern.view();
  for (size_t at = 0; at < view.size();) {
    const size_t sign = std::min(view.find('%', at), view.size());
    out.append_part(pattern, at, sign);
    if (sign == view.size()) {
      break;
    }
    at = sign + 1;
    MYNAH_TRY_STATUS(append_printf_field(renderer, out, view, at, given));
    MYNAH_TRY_STATUS(renderer.heap().check_room(out.size()));
  }
  if (!given.is_used_up()) {
    return fault("a format has fewer fields than there are values");
  }
  return renderer.heap().text(std::move(out));
}

namespace {

// What a field of str.format names: "", "0", "name", "name.attribute[key]".
TemplateResult<Value> named_value(Renderer& renderer, std::string_view name,
                                  const Arguments& arguments, size_t& automatic) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  const std::string_view first = name.substr(0, end);
  Value value;
  size_t index_at = 0;
  const auto index = number_at(first, index_at);
  if (first.empty() || (index && index_at == first.size())) {
    const size_t place = first.empty() ? automatic++ : *index;
    if (place >= arguments.positional.size()) {
      return fault("a format has more fields than there are values");
    }
    value = arguments.positional[place];
  } else {
    const auto place =
        std::ranges::find(arguments.named, first, &std::pair<std::string, Value>::first);
    if (place == arguments.named.end()) {
      return fault(fmt::format("a format names '{}', which is not given", first));
    }
    value = place->second;
  }
  for (size_t at = end; at < name.size();) {
    if (name[at] == '.') {
      const size_t stop = std::min(name.find_first_of(".[", at + 1), name.size());
      MYNAH_TRY(value, renderer.attribute(value, name.substr(at + 1, stop - at - 1)));
      at = stop;
      continue;
    }
    const size_t stop = name.find(']', at);
    if (stop == std::string_view::npos) {
      return wrong_pattern(name);
    }
    const std::string_view key = name.substr(at + 1, stop - at - 1);
    size_t digits = 0;
    const auto number = number_at(key, digits);
    MYNAH_TRY(value, renderer.item(value, number && digits == key.size()
                                              ? Value::integer(static_cast<Integer>(*number))
                                              : renderer.heap().text(std::string(key))));
    at = stop + 1;
  }
  return value;
}

TemplateResult<FieldStyle> read_specification(std::string_view text) {
  FieldStyle style;
  size_t at = 0;
  const size_t first = text.empty() ? 0 : next_code_point(text).bytes;
  static constexpr std::string_view kAligns = "<>^=";
  if (first < text.size() && kAligns.contains(text[first])) {
    style.fill = std::string(text.substr(0, first));
    style.align = text[first];
    at = first + 1;
  } else if (!text.empty() && kAligns.contains(text.front())) {
    style.align = text.front();
    at = 1;
  }
  if (at < text.size() && std::string_view("+- ").contains(text[at])) {
    style.sign = text[at] == '-' ? '\0' : text[at];
    ++at;
  }
  if (at < text.size() && text[at] == '#') {
    style.alternate = true;
    ++at;
  }
  if (at < text.size() && text[at] == '0' && style.align == '\0') {
    style.fill = "0";
    style.align = '=';
  }
  style.width = number_at(text, at).value_or(0);
  if (at < text.size() && text[at] == ',') {
    style.grouped = true;
    ++at;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    style.precision = number_at(text, at);
    if (!style.precision) {
      return wrong_pattern(text);
    }
  }
  if (at < text.size()) {
    style.type = text[at];
    ++at;
  }
  const bool is_known =
      style.type == '\0' || std::string_view("sdxXobeEfFgG%").contains(style.type);
  if (at != text.size() || !is_known || style.width > kWidest ||
      style.precision.value_or(0) > kWidest) {
    return unsupported(fmt::format("a field's format '{}' is none that mynah has", text));
  }
  return style;
}

TemplateResult<void> append_format_field(Renderer& renderer, MarkedText& out,
                                         std::string_view field, const Arguments& arguments,
                                         size_t& automatic) {
  const size_t colon = std::min(field.find(':'), field.size());
  std::string_view name = field.substr(0, colon);
  char conversion = '\0';
  if (const size_t mark = name.find('!'); mark != std::string_view::npos) {
    if (mark + 2 != name.size()) {
      return wrong_pattern(field);
    }
    conversion = name[mark + 1];
    name = name.substr(0, mark);
  }
  MYNAH_TRY(Value value, named_value(renderer, name, arguments, automatic));
  if (conversion != '\0') {
    MYNAH_TRY(MarkedText text, conversion == 'r' ? renderer.repr(value) : renderer.str(value));
    value = renderer.heap().text(std::move(text));
  }
  const std::string_view specification =
      colon < field.size() ? field.substr(colon + 1) : std::string_view();
  if (specification.empty()) {
    MYNAH_TRY(const MarkedText text, renderer.str(value));
    out.append(text);
    return {};
  }
  MYNAH_TRY(const FieldStyle style, read_specification(specification));
  return append_value(out, value, style);
}

}  // namespace

TemplateResult<Value> format_text(Renderer& renderer, const MarkedText& pattern,
                                  const Arguments& arguments) {
  MarkedText out;
  out.safe = pattern.safe;
  const std::string_view view = pattern.view();
  size_t automatic = 0;
  for (size_t at = 0; at < view.size();) {
    const size_t brace = std::min(view.find_first_of("{}", at), view.size());
    out.append_part(pattern, at, brace);
    if (brace == view.size()) {
      break;
    }
    if (view.substr(brace + 1).starts_with(view[brace])) {
      out.append_part(pattern, brace, brace + 1);
      at = brace + 2;
      continue;
    }
    const size_t end = view.find_first_of("{}", brace + 1);
    if (view[brace] == '}' || end == std::string_view::npos || view[end] == '{') {
      return wrong_pattern(view);
    }
    MYNAH_TRY_STATUS(append_format_field(renderer, out, view.substr(brace + 1, end - brace - 1),
                                         arguments, automatic));
    MYNAH_TRY_STATUS(renderer.heap().check_room(out.size()));
    at = end + 1;
  }
  return renderer.heap().text(std::move(out));
}

}  // namespace mynah::jinja
