#include "text/tokenizer/code_point_set.h"

#include <algorithm>

#include "base/check.h"
#include "text/unicode.h"

namespace mynah {
namespace {

constexpr char32_t kEndOfAscii = 0x80;

}  // namespace

bool CodePointSet::add_category(std::string_view name) {
  bool found = false;
  for (int category = 0; category < kGeneralCategories; ++category) {
    if (general_category_name(category).starts_with(name)) {
      categories_ |= 1U << category;
      found = true;
    }
  }
  return found;
}

void CodePointSet::add_white_space() {
  // PropList.txt: the separators, and six controls.
  (void)add_category("Z");
  add(0x09, 0x0D);
  add(0x85, 0x85);
}

bool CodePointSet::contains(char32_t code_point, int category) const {
  const bool in_category = ((categories_ >> category) & 1) != 0;
  const bool in_range = std::ranges::any_of(ranges_, [&](const auto& range) {
    return code_point >= range.first && code_point <= range.second;
  });
  return (in_category || in_range) != negated_;
}

CodePointClasses::CodePointClasses(const std::vector<CodePointSet>& sets) {
  MYNAH_CHECK(sets.size() <= 64, "a pattern has at most 64 sets of code points");
  const auto class_of = [&](char32_t code_point, int category) {
    uint64_t members = 0;
    for (size_t i = 0; i < sets.size(); ++i) {
      members |= static_cast<uint64_t>(sets[i].contains(code_point, category)) << i;
    }
    const auto found = std::ranges::find(members_, members);
    const auto index = found - members_.begin();
    if (found == members_.end()) {
      members_.push_back(members);
      MYNAH_CHECK(members_.size() < UINT8_MAX, "a pattern's sets make at most 254 classes");
    }
    return static_cast<uint8_t>(index);
  };
  for (char32_t c = 0; c < kEndOfAscii; ++c) {
    ascii_[c] = class_of(c, general_category(c));
  }
  for (const CodePointSet& set : sets) {
    for (const auto& [first, last] : set.ranges()) {
      borders_.push_back(std::max(first, kEndOfAscii));
      borders_.push_back(std::max<char32_t>(last + 1, kEndOfAscii));
    }
  }
  std::ranges::sort(borders_);
  borders_.erase(std::ranges::unique(borders_).begin(), borders_.end());
  // Between two borders the category alone decides: any code point stands for all.
  for (size_t segment = 0; segment <= borders_.size(); ++segment) {
    const char32_t any = segment == 0 ? kEndOfAscii : borders_[segment - 1];
    for (int category = 0; category < kGeneralCategories; ++category) {
      by_category_.push_back(class_of(any, category));
    }
  }
}

uint8_t CodePointClasses::of_other(char32_t code_point) const {
  const auto segment =
      static_cast<size_t>(std::ranges::upper_bound(borders_, code_point) - borders_.begin());
  return by_category_[segment * kGeneralCategories +
                      static_cast<size_t>(general_category(code_point))];
}

}  // namespace mynah
