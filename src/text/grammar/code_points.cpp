#include "text/grammar/code_points.h"

#include <algorithm>

namespace mynah::grammar {
namespace {

// The last one before the surrogates, and the first behind.
constexpr char32_t kBefore = 0xD7FF;
constexpr char32_t kBehind = 0xE000;

// Sorts, joins what touches, and leaves surrogates out.
std::vector<CodePointRange> tidied(std::span<const CodePointRange> ranges) {
  std::vector<CodePointRange> whole;
  for (const CodePointRange range : ranges) {
    const char32_t last = std::min(range.last, kLastCodePoint);
    if (range.first <= kBefore && range.first <= last) {
      whole.push_back({range.first, std::min(last, kBefore)});
    }
    if (last >= kBehind && range.first <= last) {
      whole.push_back({std::max(range.first, kBehind), last});
    }
  }
  std::ranges::sort(whole, {}, &CodePointRange::first);
  std::vector<CodePointRange> tidy;
  for (const CodePointRange range : whole) {
    if (!tidy.empty() && range.first <= tidy.back().last + 1) {
      tidy.back().last = std::max(tidy.back().last, range.last);
    } else {
      tidy.push_back(range);
    }
  }
  return tidy;
}

}  // namespace

CodePoints::CodePoints(std::span<const CodePointRange> ranges) : ranges_(tidied(ranges)) {}

CodePoints CodePoints::one(char32_t code_point) {
  const CodePointRange range = {code_point, code_point};
  return CodePoints(std::span(&range, 1));
}

CodePoints CodePoints::complement() const {
  std::vector<CodePointRange> rest;
  char32_t next = 0;
  for (const CodePointRange range : ranges_) {
    if (range.first > next) {
      rest.push_back({next, range.first - 1});
    }
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) {
    rest.push_back({next, kLastCodePoint});
  }
  return CodePoints(rest);
}

CodePoints CodePoints::united(const CodePoints& other) const {
  std::vector<CodePointRange> both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return CodePoints(both);
}

CodePoints CodePoints::common(const CodePoints& other) const {
  std::vector<CodePointRange> shared;
  for (size_t mine = 0, theirs = 0; mine < ranges_.size() && theirs < other.ranges_.size();) {
    const CodePointRange a = ranges_[mine];
    const CodePointRange b = other.ranges_[theirs];
    if (std::max(a.first, b.first) <= std::min(a.last, b.last)) {
      shared.push_back({std::max(a.first, b.first), std::min(a.last, b.last)});
    }
    ++(a.last < b.last ? mine : theirs);
  }
  return CodePoints(shared);
}

CodePoints CodePoints::without(const CodePoints& other) const {
  return common(other.complement());
}

bool CodePoints::contains(char32_t code_point) const {
  const auto after = std::ranges::upper_bound(ranges_, code_point, {}, &CodePointRange::first);
  return after != ranges_.begin() && code_point <= std::prev(after)->last;
}

}  // namespace mynah::grammar
