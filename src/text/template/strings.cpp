#include "text/template/strings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <utf8proc.h>

#include "base/ascii.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::jinja {

namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// str.upper of one code point: most have one of their own, the ones that become several letters
// are here as Unicode's SpecialCasing.txt has them for German and the Latin ligatures.
void append_upper(std::string& out, char32_t c) {
  if (c == U'ß') {
    out += "SS";
  } else if (c == U'ŉ') {
    out += "ʼN";
  } else if (c >= 0xFB00 && c <= 0xFB06) {
    for (const char32_t letter : nfkd(std::u32string(1, c))) {
      append_upper(out, letter);
    }
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

// As str.title sets a word's first letter.
void append_title(std::string& out, char32_t c) {
  if (c == U'ß') {
    out += "Ss";
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

// str.isprintable of one: neither "other" nor a separator but the space.
bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

template <class Act>
void each_code_point(std::string_view text, Act&& act) {
  while (!text.empty()) {
    const Utf8Step step = next_code_point(text);
    act(step.code_point);
    text.remove_prefix(step.bytes);
  }
}

}  // namespace

size_t leading_space(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = next_code_point(text.substr(at));
    if (!is_python_space(step.code_point)) {
      break;
    }
    at += step.bytes;
  }
  return at;
}

size_t trailing_space(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t begin = end - 1;
    while (begin > 0 && is_continuation(text[begin])) {
      --begin;
    }
    if (!is_python_space(next_code_point(text.substr(begin, end - begin)).code_point)) {
      break;
    }
    end = begin;
  }
  return text.size() - end;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

size_t offset_of_code_point(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size()) {
    if (!is_continuation(text[at])) {
      if (index == 0) {
        return at;
      }
      --index;
    }
    ++at;
  }
  return at;
}

std::string upper_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_code_point(text, [&](char32_t c) { append_upper(out, c); });
  return out;
}

std::string lower_case(std::string_view text) {
  return to_utf8(to_lower(to_code_points(text)));
}

bool is_of_case(std::string_view text, bool upper) {
  bool any = false;
  bool all = true;
  each_code_point(text, [&](char32_t c) {
    if (is_cased_letter(c)) {
      const auto code = static_cast<utf8proc_int32_t>(c);
      any = true;
      all &= (upper ? utf8proc_isupper(code) : utf8proc_islower(code)) != 0;
    }
  });
  return any && all;
}

MarkedText capitalized(const MarkedText& text) {
  bool first = true;
  return text.mapped([&](std::string_view run) {
    std::string out;
    if (first) {
      const Utf8Step step = next_code_point(run);
      append_title(out, step.code_point);
      run.remove_prefix(step.bytes);
      first = false;
    }
    return out + lower_case(run);
  });
}

MarkedText titled(const MarkedText& text) {
  bool in_word = false;
  return text.mapped([&](std::string_view run) {
    std::string out;
    each_code_point(run, [&](char32_t c) {
      if (in_word) {
        append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
      } else {
        append_title(out, c);
      }
      in_word = is_cased_letter(c);
    });
    return out;
  });
}

MarkedText replaced(const MarkedText& text, std::string_view old, const MarkedText& by,
                    long long count) {
  MarkedText out;
  out.safe = text.safe;
  const std::string_view view = text.view();
  size_t from = 0;
  if (old.empty()) {
    // Python puts it before each code point and at the end.
    for (size_t at = 0; count != 0; --count) {
      out.append(by);
      if (at >= view.size()) {
        return out;
      }
      const size_t end = at + next_code_point(view.substr(at)).bytes;
      out.append_part(text, at, end);
      at = from = end;
    }
    out.append_part(text, from, view.size());
    return out;
  }
  for (size_t at = view.find(old); at != std::string_view::npos && count != 0; --count) {
    out.append_part(text, from, at);
    out.append(by);
    from = at + old.size();
    at = view.find(old, from);
  }
  out.append_part(text, from, view.size());
  return out;
}

MarkedText escaped(const MarkedText& text) {
  MarkedText out = text.mapped([](std::string_view run) {
    std::string html;
    for (const char c : run) {
      switch (c) {
        case '&':
          html += "&amp;";
          break;
        case '<':
          html += "&lt;";
          break;
        case '>':
          html += "&gt;";
          break;
        case '"':
          html += "&#34;";
          break;
        case '\'':
          html += "&#39;";
          break;
        default:
          html += c;
      }
    }
    return html;
  });
  out.safe = true;
  return out;
}

std::string float_text(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  std::array<char, 64> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(written.ptr - buffer.data()));
  const size_t e = text.find('e');
  const int exponent = std::stoi(std::string(text.substr(e + 1)));
  // CPython's float_repr_style "short" (pystrtod.c): exponents are written from 1e16 on and below
  // 1e-4.
  if (exponent < -4 || exponent >= 16) {
    return fmt::format("{}e{}{:02}", text.substr(0, e), exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string out(buffer.data(), fixed.ptr);
  return out.contains('.') ? out : out + ".0";
}

MarkedText quoted(const MarkedText& text) {
  const bool has_single = text.view().contains('\'');
  const char quote = has_single && !text.view().contains('"') ? '"' : '\'';
  MarkedText out;
  const std::string mark(1, quote);
  out.append(mark, false);
  out.append(text.mapped([&](std::string_view run) {
    std::string shown;
    each_code_point(run, [&](char32_t c) {
      if (c == static_cast<char32_t>(quote) || c == U'\\') {
        shown += '\\';
        shown += static_cast<char>(c);
      } else if (c == U'\n') {
        shown += "\\n";
      } else if (c == U'\r') {
        shown += "\\r";
      } else if (c == U'\t') {
        shown += "\\t";
      } else if (c < 0x20 || c == 0x7F) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
      } else if (c < 0x7F || is_printable(c)) {
        append_utf8(shown, c);
      } else {
        const auto code = static_cast<unsigned>(c);
        shown += c <= 0xFF     ? fmt::format("\\x{:02x}", code)
                 : c <= 0xFFFF ? fmt::format("\\u{:04x}", code)
                               : fmt::format("\\U{:08x}", code);
      }
    });
    return shown;
  }));
  out.append(mark, false);
  return out;
}

}  // namespace mynah::jinja
