#include "text/spoken/html_elements.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

constexpr size_t kMostLists = 64;

// Declarations of a style without white space, in small letters, each behind a ";".
std::string declarations(std::string_view style) {
  std::string plain = ";";
  std::ranges::copy_if(ascii_lower(style), std::back_inserter(plain),
                       [](char c) { return !is_ascii_space(c); });
  return plain;
}

// What ends an item whose end is not written: the next one, and the end of what holds it.
bool is_list(std::string_view name) {
  return name == "ul" || name == "ol" || name == "menu";
}

}  // namespace

bool is_void_element(std::string_view name) {
  constexpr auto kVoid =
      std::to_array<std::string_view>({"area", "base", "br", "col", "embed", "hr", "img", "input",
                                       "link", "meta", "param", "source", "track", "wbr"});
  return among(kVoid, name);
}

bool is_hiding(std::string_view name, std::string_view value) {
  if (name == "hidden") {
    return true;
  }
  if (name == "aria-hidden") {
    return ascii_lower(value) == "true";
  }
  if (name != "style") {
    return false;
  }
  const std::string plain = declarations(value);
  return plain.find(";display:none") != std::string::npos ||
         plain.find(";visibility:hidden") != std::string::npos;
}

void HiddenElement::open(std::string_view name) {
  name_ = name;
  depth_ = name == "li" ? 0 : 1;
}

HiddenElement::Tag HiddenElement::take(std::string_view name, bool closes, bool contains,
                                       bool block) {
  if (name_ == "p" && block && (!closes || name != "p")) {
    name_.clear();
    return Tag::Follows;
  }
  if (name_ == "li") {
    if (is_list(name) && (!closes || depth_ > 0)) {
      depth_ += closes ? -1 : 1;
      return Tag::Inside;
    }
    if (depth_ == 0 && (is_list(name) || name == "li")) {
      name_.clear();
      return closes && name == "li" ? Tag::Inside : Tag::Follows;
    }
    return Tag::Inside;
  }
  if (name == name_) {
    depth_ += closes ? -1 : (contains ? 1 : 0);
    if (depth_ == 0) {
      name_.clear();
    }
  }
  return Tag::Inside;
}

void ListNumbers::open_ordered(std::string_view start, std::string_view type, bool reversed,
                               bool unmarked) {
  open_plain();
  if (deeper_ > 0) {
    return;
  }
  List& list = lists_.back();
  const auto read = std::from_chars(start.data(), start.data() + start.size(), list.next);
  const bool started = read.ec == std::errc() && !start.empty();
  list.next = started ? list.next : 1;
  list.step = unmarked || (reversed && !started) ? 0 : (reversed ? -1 : 1);
  list.type = type.size() == 1 ? type[0] : '1';
}

void ListNumbers::open_plain() {
  if (lists_.size() == kMostLists) {
    ++deeper_;
  } else {
    lists_.emplace_back();
  }
}

void ListNumbers::close() {
  if (deeper_ > 0) {
    --deeper_;
  } else if (!lists_.empty()) {
    lists_.pop_back();
  }
}

std::string ListNumbers::next(std::string_view value) {
  if (lists_.empty() || deeper_ > 0 || lists_.back().step == 0) {
    return {};
  }
  List& list = lists_.back();
  constexpr long kMost = 1'000'000'000;
  long number = list.next;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || read.ec != std::errc()) {
    number = list.next;
  }
  number = std::clamp(number, -kMost, kMost);
  list.next = number + list.step;
  constexpr long kLetters = 26;
  const bool letter = (list.type == 'a' || list.type == 'A') && number > 0 && number <= kLetters;
  return letter ? std::string(1, static_cast<char>(list.type + number - 1)) + ") "
                : std::to_string(number) + ". ";
}

bool is_unmarked_list(std::string_view style) {
  const std::string plain = declarations(style);
  return plain.find(";list-style:none") != std::string::npos ||
         plain.find(";list-style-type:none") != std::string::npos;
}

}  // namespace mynah
