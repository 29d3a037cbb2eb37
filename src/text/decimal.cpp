#include "text/decimal.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace mynah {
Decimal::Decimal(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  digits_ = first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

bool Decimal::ends_in_zeros(size_t count) const {
  const size_t last = digits_.find_last_not_of('0');
  return last == std::string::npos || digits_.size() - 1 - last >= count;
}

Decimal Decimal::multiply_last_three(int power_of_ten) const {
  const size_t kept = digits_.size() > 3 ? digits_.size() - 3 : 0;
  const Decimal before(digits_.substr(0, kept) + "000");
  const Decimal last(digits_.substr(kept) + std::string(static_cast<size_t>(power_of_ten), '0'));
  return before.plus(last);
}

Decimal Decimal::plus(const Decimal& other) const {
  const size_t length = std::max(digits_.size(), other.digits_.size()) + 1;
  std::string sum(length, '0');
  int carry = 0;
  for (size_t i = 0; i < length; ++i) {
    const auto digit = [i](const std::string& digits) {
      return i < digits.size() ? digits[digits.size() - 1 - i] - '0' : 0;
    };
    const int total = digit(digits_) + digit(other.digits_) + carry;
    sum[length - 1 - i] = static_cast<char>('0' + total % 10);
    carry = total / 10;
  }
  return Decimal(sum);
}

std::optional<Decimal> multiply_fraction(std::string_view number, int power_of_ten) {
  const size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
  if (!is_ascii_digits(std::string(whole).append(fraction))) {
    return std::nullopt;
  }
  const auto power = static_cast<size_t>(power_of_ten);
  while (fraction.ends_with('0')) {
    fraction.remove_suffix(1);
  }
  if (fraction.size() > power) {
    return std::nullopt;
  }
  return Decimal(std::string(whole) + std::string(fraction) +
                 std::string(power - fraction.size(), '0'));
}

}  // namespace mynah
