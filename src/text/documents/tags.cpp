#include "text/documents/tags.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/spoken/html_entities.h"

namespace mynah {
namespace {

std::string without_prefix(const std::string& name) {
  return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
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
    const std::string_view rest = text.substr(ampersand + 1, kLongestEntityName + 1);
    const size_t end = rest.find(';');
    const auto characters =
        end == std::string_view::npos ? std::nullopt : entity_characters(rest.substr(0, end));
    if (characters) {
      out += *characters;
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
    std::string name = ascii_lower(text_.substr(begin, at - begin));
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
  if (at >= text_.size() || !is_ascii_letter(text_[at])) {
    return std::nullopt;
  }
  const size_t begin = at;
  while (at < text_.size() && !is_ascii_space(text_[at]) && text_[at] != '>' && text_[at] != '/') {
    ++at;
  }
  tag.name = without_prefix(ascii_lower(text_.substr(begin, at - begin)));
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
    if (found == text_.size() || starts_with_but_for_case(text_.substr(found + 2), name)) {
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
