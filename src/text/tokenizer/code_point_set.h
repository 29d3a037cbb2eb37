// Sets of code points as a pattern's brackets write them, and the classes that several sets make.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah {

// Ranges and general categories; what is in one of them, or what is in none.
class CodePointSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }

  // "L", "Lu", "N" ...: the categories whose names begin so. False where none does.
  [[nodiscard]] bool add_category(std::string_view name);
  // \s: the property White_Space.
  void add_white_space();

  void negate() { negated_ = !negated_; }

  // Requires the code point's own general category (unicode.h).
  [[nodiscard]] bool contains(char32_t code_point, int category) const;

  bool operator==(const CodePointSet&) const = default;

  [[nodiscard]] const std::vector<std::pair<char32_t, char32_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<char32_t, char32_t>> ranges_;  // both ends belong to it
  uint32_t categories_ = 0;                            // a bit each (unicode.h)
  bool negated_ = false;
};

// Code points apart by the sets that they are in: those of one class are in the same ones.
class CodePointClasses {
 public:
  // Of at most 64 sets, which make at most 255 classes.
  explicit CodePointClasses(const std::vector<CodePointSet>& sets);

  [[nodiscard]] size_t size() const { return members_.size(); }

  [[nodiscard]] uint8_t of(char32_t code_point) const {
    return code_point < ascii_.size() ? ascii_[code_point] : of_other(code_point);
  }

  // Whether the code points of a class are in sets[set].
  [[nodiscard]] bool is_in(size_t of_class, size_t set) const {
    return ((members_[of_class] >> set) & 1) != 0;
  }

 private:
  [[nodiscard]] uint8_t of_other(char32_t code_point) const;

  std::array<uint8_t, 128> ascii_{};
  // Where a set's range begins or ends, above ASCII; between two, the category decides.
  std::vector<char32_t> borders_;
  std::vector<uint8_t> by_category_;  // (borders_.size() + 1, kGeneralCategories)
  std::vector<uint64_t> members_;     // of a class, a bit a set
};

}  // namespace mynah
