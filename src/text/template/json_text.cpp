#include "text/template/json_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/template/strings.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

// A float as json.dumps writes it, which has words for what is no number.
std::string json_real(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Infinity" : "Infinity";
  }
  return float_text(value);
}

void append_escaped(std::string& out, char32_t c, bool ensure_ascii) {
  static constexpr std::string_view kPlain = "\"\\\n\r\t\f\b";
  static constexpr std::string_view kLetters = "\"\\nrtfb";
  if (const size_t place = c < 0x80 ? kPlain.find(static_cast<char>(c)) : std::string_view::npos;
      place != std::string_view::npos) {
    out += '\\';
    out += kLetters[place];
  } else if (c >= 0x10000 && ensure_ascii) {
    const auto code = static_cast<unsigned>(c) - 0x10000U;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (code >> 10U), 0xDC00U + (code & 0x3FFU));
  } else if (c < 0x20 || (c >= 0x7F && ensure_ascii && c != 0x7F)) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    append_utf8(out, c);
  }
}

class Writer {
 public:
  Writer(Renderer& renderer, const JsonStyle& style) : renderer_(renderer), style_(style) {}

  TemplateResult<void> write(const Value& value, size_t depth);

  [[nodiscard]] MarkedText take() { return std::move(out_); }

 private:
  void write_text(const MarkedText& text);
  void break_line(size_t depth);
  TemplateResult<MarkedText> key_text(const Value& key);
  TemplateResult<void> write_list(const List& list, size_t depth);
  TemplateResult<void> write_dict(const Dict& dict, size_t depth);

  void add(std::string_view text) { out_.append(text, false); }

  Renderer& renderer_;
  const JsonStyle& style_;
  MarkedText out_;
};

void Writer::write_text(const MarkedText& text) {
  renderer_.heap().charge_bytes(text.size());
  add("\"");
  out_.append(text.mapped([&](std::string_view run) {
    std::string escaped;
    escaped.reserve(run.size());
    while (!run.empty()) {
      const Utf8Step step = next_code_point(run);
      append_escaped(escaped, step.code_point, style_.ensure_ascii);
      run.remove_prefix(step.bytes);
    }
    return escaped;
  }));
  add("\"");
}

void Writer::break_line(size_t depth) {
  if (style_.indent) {
    add("\n");
    for (size_t i = 0; i < depth; ++i) {
      add(*style_.indent);
    }
  }
}

TemplateResult<MarkedText> Writer::key_text(const Value& key) {
  if (const MarkedText* text = key.as_text()) {
    return *text;
  }
  if (const bool* boolean = key.as_boolean()) {
    return MarkedText(*boolean ? "true" : "false");
  }
  if (const auto integer = key.as_integer()) {
    return MarkedText(fmt::to_string(*integer));
  }
  if (const double* real = key.as_real()) {
    return MarkedText(json_real(*real));
  }
  if (key.is_none()) {
    return MarkedText("null");
  }
  return fault(fmt::format("{} cannot be a key of JSON", type_name(key)));
}

TemplateResult<void> Writer::write_list(const List& list, size_t depth) {
  if (list.kind != List::Kind::List && list.kind != List::Kind::Tuple) {
    return fault(fmt::format("{} cannot be written as JSON",
                             list.kind == List::Kind::Range ? "range" : "lazy value: use |list"));
  }
  add("[");
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) {
      out_.append(style_.item_separator);
    }
    break_line(depth + 1);
    MYNAH_TRY_STATUS(write(list.items[i], depth + 1));
  }
  if (!list.items.empty()) {
    break_line(depth);
  }
  add("]");
  return {};
}

TemplateResult<void> Writer::write_dict(const Dict& dict, size_t depth) {
  std::vector<const std::pair<Value, Value>*> entries;
  entries.reserve(dict.entries.size());
  for (const auto& entry : dict.entries) {
    entries.push_back(&entry);
  }
  if (style_.sort_keys) {
    // Python compares the keys themselves: those of one kind have an order.
    TemplateResult<void> status;
    std::ranges::stable_sort(entries, [&](const auto* left, const auto* right) {
      const auto order = renderer_.compare(left->first, right->first);
      if (!order && status) {
        status = std::unexpected(order.error());
      }
      return order && *order < 0;
    });
    MYNAH_TRY_STATUS(std::move(status));
  }
  add("{");
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) {
      out_.append(style_.item_separator);
    }
    break_line(depth + 1);
    MYNAH_TRY(const MarkedText key, key_text(entries[i]->first));
    write_text(key);
    out_.append(style_.key_separator);
    MYNAH_TRY_STATUS(write(entries[i]->second, depth + 1));
  }
  if (!entries.empty()) {
    break_line(depth);
  }
  add("}");
  return {};
}

TemplateResult<void> Writer::write(const Value& value, size_t depth) {
  const Renderer::Level level(renderer_);
  renderer_.heap().charge(1);
  MYNAH_TRY_STATUS(level.check());
  MYNAH_TRY_STATUS(renderer_.heap().check_room(out_.size()));
  if (const MarkedText* text = value.as_text()) {
    write_text(*text);
  } else if (value.is_none()) {
    add("null");
  } else if (const bool* boolean = value.as_boolean()) {
    add(*boolean ? "true" : "false");
  } else if (const auto integer = value.as_integer()) {
    add(fmt::to_string(*integer));
  } else if (const double* real = value.as_real()) {
    add(json_real(*real));
  } else if (const auto* list = value.as<List>()) {
    return write_list(*list, depth);
  } else if (const auto* dict = value.as<Dict>()) {
    return write_dict(*dict, depth);
  } else if (value.is_undefined()) {
    return undefined_fault(value);
  } else {
    return fault(fmt::format("{} cannot be written as JSON", type_name(value)));
  }
  return {};
}

}  // namespace

TemplateResult<MarkedText> json_text(Renderer& renderer, const Value& value,
                                     const JsonStyle& style) {
  Writer writer(renderer, style);
  MYNAH_TRY_STATUS(writer.write(value, 0));
  return writer.take();
}

}  // namespace mynah::jinja
