// Functions that a template finds by their names.
#include <array>

#include <fmt/format.h>
#include <locale.h>

#include "text/template/bound_arguments.h"
#include "text/template/builtins.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// jinja2's sandbox (MAX_RANGE) lets no range be longer.
constexpr Integer kMaximumRange = 100'000;

TemplateResult<Value> range(Renderer& renderer, const Value& /*self*/, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("range", given, {"start", "stop", "step"}, 1));
  MYNAH_TRY(const Integer first, bound.integer(0, 0));
  MYNAH_TRY(const Integer stop, bound.integer(1, first));
  MYNAH_TRY(const Integer step, bound.integer(2, 1));
  const Integer start = bound.find(1) != nullptr ? first : 0;
  if (step == 0) {
    return fault("a range's step cannot be zero");
  }
  constexpr Integer kFurthest = Integer{1} << 62;
  for (const Integer bound_value : {start, stop, step}) {
    if (bound_value > kFurthest || bound_value < -kFurthest) {
      return unsupported("a range's number is too large");
    }
  }
  const Integer distance = step > 0 ? stop - start : start - stop;
  const Integer stride = step > 0 ? step : -step;
  const Integer count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  if (count > kMaximumRange) {
    return over_limit(fmt::format("a range has at most {} numbers", fmt::to_string(kMaximumRange)));
  }
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(count));
  for (Integer i = 0; i < count; ++i) {
    items.push_back(Value::integer(start + i * step));
  }
  Value value = renderer.heap().list(std::move(items), List::Kind::Range);
  value.as<List>()->range = step == 1 ? fmt::format("range({}, {})", start, stop)
                                      : fmt::format("range({}, {}, {})", start, stop, step);
  return value;
}

// Entries of mappings given to dict() or namespace(), and of named arguments.
template <class Take>
TemplateResult<void> take_entries(Renderer& renderer, Arguments& given, Take&& take) {
  if (given.positional.size() > 1) {
    return fault("one mapping at most is wanted, besides named values");
  }
  for (const Value& one : given.positional) {
    if (const auto* dict = one.as<Dict>()) {
      for (const auto& [key, value] : dict->entries) {
        MYNAH_TRY_STATUS(take(key, value));
      }
      continue;
    }
    MYNAH_TRY(const std::vector<Value> pairs, renderer.iterate(one));
    for (const Value& pair : pairs) {
      MYNAH_TRY(const std::vector<Value> parts, renderer.iterate(pair));
      if (parts.size() != 2) {
        return fault(
            fmt::format("pairs of a key and a value are wanted, not {} values", parts.size()));
      }
      MYNAH_TRY_STATUS(take(parts[0], parts[1]));
    }
  }
  for (const auto& [name, value] : given.named) {
    MYNAH_TRY_STATUS(take(renderer.heap().text(name), value));
  }
  return {};
}

TemplateResult<Value> dict(Renderer& renderer, const Value& /*self*/, Arguments& given) {
  auto made = renderer.heap().make<Dict>();
  MYNAH_TRY_STATUS(take_entries(renderer, given,
                                [&](const Value& key, const Value& value) -> TemplateResult<void> {
                                  if (!is_hashable(key)) {
                                    return fault(fmt::format("{} cannot be a key", type_name(key)));
                                  }
                                  made->set(key, value);
                                  return {};
                                }));
  return Value::object(std::move(made));
}

TemplateResult<Value> make_namespace(Renderer& renderer, const Value& /*self*/, Arguments& given) {
  auto made = renderer.heap().make<Namespace>();
  // It may come to hold itself.
  renderer.heap().keep(made);
  MYNAH_TRY_STATUS(take_entries(
      renderer, given, [&](const Value& key, const Value& value) -> TemplateResult<void> {
        const MarkedText* name = key.as_text();
        if (name == nullptr) {
          return fault(fmt::format("an attribute's name is a text, not {}", type_name(key)));
        }
        made->set(name->view(), value);
        return {};
      }));
  return Value::object(std::move(made));
}

TemplateResult<Value> raise_exception(Renderer& renderer, const Value& /*self*/, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("raise_exception", given, {"message"}, 1));
  MYNAH_TRY(const MarkedText message, renderer.str(bound[0]));
  return std::unexpected(
      TemplateError{TemplateError::Kind::Refusal, 0, std::string(message.view())});
}

// The locale of programs that set none: English names of days and months.
locale_t plain_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

TemplateResult<Value> strftime_now(Renderer& renderer, const Value& /*self*/, Arguments& given) {
  MYNAH_TRY(const auto bound, BoundArguments::of("strftime_now", given, {"format"}, 1));
  MYNAH_TRY(const MarkedText format, bound.text(0, ""));
  constexpr size_t kLongest = 4096;
  if (format.view().contains('\0') || format.size() > kLongest / 16) {
    return fault("strftime_now takes a short format without NUL");
  }
  const std::tm now = renderer.now();
  // Something behind it, as strftime's 0 means both "nothing" and "no room".
  const std::string pattern = std::string(format.view()) + ".";
  std::array<char, kLongest> buffer{};
  const size_t length =
      strftime_l(buffer.data(), buffer.size(), pattern.c_str(), &now, plain_locale());
  if (length == 0) {
    return fault("strftime_now's format asks for too long a text");
  }
  return renderer.heap().text(replace_invalid_utf8(std::string_view(buffer.data(), length - 1)));
}

constexpr std::array<std::pair<std::string_view, BuiltinFunction>, 5> kGlobals = {
    {{"range", range},
     {"dict", dict},
     {"namespace", make_namespace},
     {"raise_exception", raise_exception},
     {"strftime_now", strftime_now}}};

}  // namespace

BuiltinFunction find_global(std::string_view name) {
  for (const auto& [known, function] : kGlobals) {
    if (known == name) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace mynah::jinja
