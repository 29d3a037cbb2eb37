// Sets of code points.
#pragma once

#include <span>
#include <vector>

namespace mynah::grammar {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;  // included

  bool operator==(const CodePointRange&) const = default;
};

// Ranges that rise and do not touch, without surrogates: what UTF-8 can write.
class CodePoints {
 public:
  CodePoints() = default;
  // Ranges in any order; a range whose end is below its beginning is empty.
  explicit CodePoints(std::span<const CodePointRange> ranges);

  static CodePoints all() { return CodePoints().complement(); }

  static CodePoints one(char32_t code_point);

  void add(CodePointRange range);

  [[nodiscard]] CodePoints complement() const;
  [[nodiscard]] CodePoints united(const CodePoints& other) const;
  [[nodiscard]] CodePoints common(const CodePoints& other) const;
  [[nodiscard]] CodePoints without(const CodePoints& other) const;
  [[nodiscard]] bool contains(char32_t code_point) const;

  [[nodiscard]] bool empty() const { return ranges_.empty(); }

  [[nodiscard]] std::span<const CodePointRange> ranges() const { return ranges_; }

  bool operator==(const CodePoints&) const = default;

 private:
  std::vector<CodePointRange> ranges_;
};

}  // namespace mynah::grammar
