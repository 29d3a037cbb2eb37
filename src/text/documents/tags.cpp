#include "text/documents/tags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "text/spoken/characters.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Entity {
  std::string_view name;
  char32_t character;
};

// Those of HTML 4 that books have (the others are mathematics and Greek), by name: section 24 of
// its specification.
constexpr std::array kEntities = std::to_array<Entity>({
    {"AElig", 0xC6},    {"Aacute", 0xC1},   {"Acirc", 0xC2},    {"Agrave", 0xC0},
    {"Aring", 0xC5},    {"Atilde", 0xC3},   {"Auml", 0xC4},     {"Ccedil", 0xC7},
    {"ETH", 0xD0},      {"Eacute", 0xC9},   {"Ecirc", 0xCA},    {"Egrave", 0xC8},
    {"Euml", 0xCB},     {"Iacute", 0xCD},   {"Icirc", 0xCE},    {"Igrave", 0xCC},
    {"Iuml", 0xCF},     {"Ntilde", 0xD1},   {"OElig", 0x152},   {"Oacute", 0xD3},
    {"Ocirc", 0xD4},    {"Ograve", 0xD2},   {"Oslash", 0xD8},   {"Otilde", 0xD5},
    {"Ouml", 0xD6},     {"Prime", 0x2033},  {"Scaron", 0x160},  {"THORN", 0xDE},
    {"Uacute", 0xDA},   {"Ucirc", 0xDB},    {"Ugrave", 0xD9},   {"Uuml", 0xDC},
    {"Yacute", 0xDD},   {"Yuml", 0x178},    {"aacute", 0xE1},   {"acirc", 0xE2},
    {"acute", 0xB4},    {"aelig", 0xE6},    {"agrave", 0xE0},   {"amp", 0x26},
    {"apos", 0x27},     {"aring", 0xE5},    {"atilde", 0xE3},   {"auml", 0xE4},
    {"bdquo", 0x201E},  {"brvbar", 0xA6},   {"bull", 0x2022},   {"ccedil", 0xE7},
    {"cedil", 0xB8},    {"cent", 0xA2},     {"circ", 0x2C6},    {"copy", 0xA9},
    {"curren", 0xA4},   {"dagger", 0x2020}, {"deg", 0xB0},      {"divide", 0xF7},
    {"eacute", 0xE9},   {"ecirc", 0xEA},    {"egrave", 0xE8},   {"emsp", 0x2003},
    {"ensp", 0x2002},   {"eth", 0xF0},      {"euml", 0xEB},     {"euro", 0x20AC},
    {"frac12", 0xBD},   {"frac14", 0xBC},   {"frac34", 0xBE},   {"frasl", 0x2044},
    {"ge", 0x2265},     {"gt", 0x3E},       {"hellip", 0x2026}, {"iacute", 0xED},
    {"icirc", 0xEE},    {"iexcl", 0xA1},    {"igrave", 0xEC},   {"iquest", 0xBF},
    {"iuml", 0xEF},     {"laquo", 0xAB},    {"larr", 0x2190},   {"ldquo", 0x201C},
    {"le", 0x2264},     {"lsaquo", 0x2039}, {"lsquo", 0x2018},  {"lt", 0x3C},
    {"macr", 0xAF},     {"mdash", 0x2014},  {"micro", 0xB5},    {"middot", 0xB7},
    {"minus", 0x2212},  {"nbsp", 0xA0},     {"ndash", 0x2013},  {"ne", 0x2260},
    {"not", 0xAC},      {"ntilde", 0xF1},   {"oacute", 0xF3},   {"ocirc", 0xF4},
    {"oelig", 0x153},   {"ograve", 0xF2},   {"ordf", 0xAA},     {"ordm", 0xBA},
    {"oslash", 0xF8},   {"otilde", 0xF5},   {"ouml", 0xF6},     {"para", 0xB6},
    {"permil", 0x2030}, {"plusmn", 0xB1},   {"pound", 0xA3},    {"prime", 0x2032},
    {"quot", 0x22},     {"raquo", 0xBB},    {"rarr", 0x2192},   {"rdquo", 0x201D},
    {"reg", 0xAE},      {"rsaquo", 0x203A}, {"rsquo", 0x2019},  {"sbquo", 0x201A},
    {"scaron", 0x161},  {"sect", 0xA7},     {"shy", 0xAD},      {"sup1", 0xB9},
    {"sup2", 0xB2},     {"sup3", 0xB3},     {"szlig", 0xDF},    {"thinsp", 0x2009},
    {"thorn", 0xFE},    {"tilde", 0x2DC},   {"times", 0xD7},    {"trade", 0x2122},
    {"uacute", 0xFA},   {"ucirc", 0xFB},    {"ugrave", 0xF9},   {"uml", 0xA8},
    {"uuml", 0xFC},     {"yacute", 0xFD},   {"yen", 0xA5},      {"yuml", 0xFF},
    {"zwj", 0x200D},    {"zwnj", 0x200C},
});
static_assert(std::ranges::is_sorted(kEntities, {}, &Entity::name));

// More digits than any code point has; the names are shorter.
constexpr size_t kMostEntityBytes = 16;

bool is_name_begin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char to_small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string small(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_small);
  return out;
}

std::string without_prefix(const std::string& name) {
  return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
}

// Code points that text can have; the C1 range is Windows-1252's in practice (HTML living standard,
// 13.2.5.80), of which books use quotes and dashes.
char32_t numbered(uint32_t number) {
  constexpr std::array<char16_t, 32> kWindows = {
      0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
      0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  if (number >= 0x80 && number < 0xA0) {
    return kWindows[number - 0x80];
  }
  const bool bad = number == 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000);
  return bad ? kReplacementCharacter : number;
}

std::optional<char32_t> entity(std::string_view name) {
  if (name.starts_with('#')) {
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
    name.remove_prefix(hexadecimal ? 1 : 0);
    uint32_t number = 0;
    const auto end =
        std::from_chars(name.data(), name.data() + name.size(), number, hexadecimal ? 16 : 10);
    if (name.empty() || end.ptr != name.data() + name.size() ||
        end.ec == std::errc::invalid_argument) {
      return std::nullopt;
    }
    return numbered(end.ec == std::errc() ? number : 0);
  }
  const auto* const found = std::ranges::lower_bound(kEntities, name, {}, &Entity::name);
  if (found == kEntities.end() || found->name != name) {
    return std::nullopt;
  }
  return found->character;
}

}  // namespace

std::string replace_entities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t ampersand = std::min(text.find('&', at), text.size());
    out += text.substr(at, ampersand - at);
    if (ampersand == text.size()) {
      break;
    }
    const std::string_view rest = text.substr(ampersand + 1, kMostEntityBytes + 1);
    const size_t end = rest.find(';');
    const auto character =
        end == std::string_view::npos ? std::nullopt : entity(rest.substr(0, end));
    if (character) {
      append_utf8(out, *character);
      at = ampersand + end + 2;
    } else {
      out += '&';
      at = ampersand + 1;
    }
  }
  return out;
}

std::string_view Tag::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) {
      return value;
    }
  }
  return {};
}

// Comments, CDATA's frame, <?...?> and <!...>: at_ stands on "<".
bool TagReader::pass_over() {
  const std::string_view rest = text_.substr(at_);
  const auto skip = [&](std::string_view begin, std::string_view end) {
    if (!rest.starts_with(begin)) {
      return false;
    }
    const size_t found = text_.find(end, at_ + begin.size());
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    return true;
  };
  return skip("<!--", "-->") || skip("<?", ">") ||
         (!rest.starts_with("<![CDATA[") && skip("<!", ">"));
}

bool TagReader::read_attributes(size_t& at, Tag& tag) const {
  constexpr size_t kMostAttributes = 256;
  while (at < text_.size()) {
    while (at < text_.size() && is_ascii_space(text_[at])) {
      ++at;
    }
    if (at >= text_.size()) {
      return false;
    }
    if (text_[at] == '>') {
      ++at;
      return true;
    }
    if (text_[at] == '/') {
      tag.closed = true;
      ++at;
      continue;
    }
    tag.closed = false;
    const size_t begin = at;
    while (at < text_.size() && !is_ascii_space(text_[at]) && text_[at] != '=' &&
           text_[at] != '>' && (text_[at] != '/' || at == begin)) {
      ++at;
    }
    std::string name = small(text_.substr(begin, at - begin));
    if (at == begin) {  // "=" without a name
      ++at;
      continue;
    }
    while (at < text_.size() && is_ascii_space(text_[at])) {
      ++at;
    }
    std::string_view value;
    if (at < text_.size() && text_[at] == '=') {
      ++at;
      while (at < text_.size() && is_ascii_space(text_[at])) {
        ++at;
      }
      if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'')) {
        const size_t end = text_.find(text_[at], at + 1);
        if (end == std::string_view::npos) {
          return false;
        }
        value = text_.substr(at + 1, end - at - 1);
        at = end + 1;
      } else {
        const size_t first = at;
        while (at < text_.size() && !is_ascii_space(text_[at]) && text_[at] != '>') {
          ++at;
        }
        value = text_.substr(first, at - first);
      }
    }
    if (tag.attributes.size() < kMostAttributes) {
      tag.attributes.emplace_back(std::move(name), replace_entities(value));
    }
  }
  return false;
}

std::optional<Tag> TagReader::read_tag() {
  size_t at = at_ + 1;
  Tag tag{.kind = Tag::Kind::Open, .name = {}, .text = {}, .attributes = {}};
  if (at < text_.size() && text_[at] == '/') {
    tag.kind = Tag::Kind::Close;
    ++at;
  }
  if (at >= text_.size() || !is_name_begin(text_[at])) {
    return std::nullopt;
  }
  const size_t begin = at;
  while (at < text_.size() && !is_ascii_space(text_[at]) && text_[at] != '>' && text_[at] != '/') {
    ++at;
  }
  tag.name = without_prefix(small(text_.substr(begin, at - begin)));
  if (!read_attributes(at, tag)) {
    no_more_tags_ = true;  // whatever follows, no ">" ends it: it is not looked for again
    return std::nullopt;
  }
  at_ = at;
  return tag;
}

// Text up to </name, which is no markup.
std::string_view TagReader::take_raw(std::string_view name) {
  const size_t begin = at_;
  while (at_ < text_.size()) {
    const size_t found = std::min(text_.find("</", at_), text_.size());
    at_ = found;
    if (found == text_.size() || small(text_.substr(found + 2, name.size())) == name) {
      break;
    }
    at_ = found + 2;
  }
  return text_.substr(begin, at_ - begin);
}

std::optional<Tag> TagReader::next() {
  constexpr std::string_view kCdata = "<![CDATA[";
  if (!raw_.empty()) {
    const std::string name = std::exchange(raw_, {});
    if (const std::string_view raw = take_raw(name); !raw.empty()) {
      return Tag{.kind = Tag::Kind::Text, .name = {}, .text = std::string(raw), .attributes = {}};
    }
  }
  while (at_ < text_.size()) {
    if (text_[at_] == '<' && text_.substr(at_).starts_with(kCdata)) {
      const size_t begin = at_ + kCdata.size();
      const size_t end = std::min(text_.find("]]>", begin), text_.size());
      at_ = std::min(end + 3, text_.size());
      return Tag{.kind = Tag::Kind::Text,
                 .name = {},
                 .text = std::string(text_.substr(begin, end - begin)),
                 .attributes = {}};
    }
    if (text_[at_] == '<' && pass_over()) {
      continue;
    }
    if (text_[at_] == '<' && !no_more_tags_) {
      if (auto tag = read_tag()) {
        if (tag->kind == Tag::Kind::Open && !tag->closed &&
            (tag->name == "script" || tag->name == "style")) {
          raw_ = tag->name;
        }
        return tag;
      }
    }
    // A "<" that begins no tag is text.
    const size_t end = std::min(text_.find('<', at_ + 1), text_.size());
    Tag tag{.kind = Tag::Kind::Text,
            .name = {},
            .text = replace_entities(text_.substr(at_, end - at_)),
            .attributes = {}};
    at_ = end;
    return tag;
  }
  return std::nullopt;
}

bool has_word(std::string_view words, std::string_view wanted) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == wanted) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace mynah
