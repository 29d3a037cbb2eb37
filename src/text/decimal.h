// Whole numbers of any length as decimal digits: as much arithmetic as spoken numbers need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// Digits without leading zeros; "0" is zero.
class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(std::string_view digits);

  [[nodiscard]] const std::string& digits() const { return digits_; }

  [[nodiscard]] bool is_zero() const { return digits_ == "0"; }

  // Whether the last `count` digits are zero.
  [[nodiscard]] bool ends_in_zeros(size_t count) const;

  // The last three digits multiplied by a power of ten, the rest left as it is: "two thousand
  // three" hundred is 2000 + 3 * 100.
  [[nodiscard]] Decimal multiply_last_three(int power_of_ten) const;

  [[nodiscard]] Decimal plus(const Decimal& other) const;

 private:
  std::string digits_ = "0";
};

// "12.50" times a power of ten, if that is whole. Nothing if the text is not a number.
[[nodiscard]] std::optional<Decimal> multiply_fraction(std::string_view number, int power_of_ten);

}  // namespace mynah
