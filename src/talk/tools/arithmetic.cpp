#include "talk/tools/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

namespace mynah::talk {

namespace {

using Whole = boost::multiprecision::cpp_int;
using Fraction = boost::multiprecision::cpp_rational;

// A fraction, or a number that is near what is meant.
struct Value {
  std::optional<Fraction> exact;
  double about = 0;

  Value(Fraction fraction)  // NOLINT(google-explicit-constructor): every fraction is a value
      : exact(std::move(fraction)), about(exact->convert_to<double>()) {}

  explicit Value(double number) : about(number) {}

  [[nodiscard]] bool is_whole() const { return exact && denominator(*exact) == 1; }
};

unsigned bits_of(const Whole& number) {
  return number == 0 ? 0 : static_cast<unsigned>(msb(abs(number))) + 1;
}

unsigned bits_of(const Fraction& number) {
  return std::max(bits_of(numerator(number)), bits_of(denominator(number)));
}

Fraction power_of_ten(int exponent) {
  const Whole power = pow(Whole(10), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? Fraction(Whole(1), power) : Fraction(power);
}

Whole floor_of(const Fraction& number) {
  Whole rest;
  Whole quotient;
  divide_qr(numerator(number), denominator(number), quotient, rest);
  return rest < 0 ? quotient - 1 : quotient;
}

// Half goes away from zero, as at school.
Fraction rounded(const Fraction& number, int places) {
  const Fraction scale = power_of_ten(places);
  const Whole nearest = floor_of(abs(number) * scale + Fraction(1, 2));
  const Fraction magnitude = Fraction(nearest) / scale;
  return number < 0 ? Fraction(-magnitude) : magnitude;
}

// The root of a square; none: it is no square.
std::optional<Fraction> exact_root(const Fraction& number) {
  if (number < 0) {
    return std::nullopt;
  }
  const Whole above = sqrt(numerator(number));
  const Whole below = sqrt(denominator(number));
  if (above * above != numerator(number) || below * below != denominator(number)) {
    return std::nullopt;
  }
  return Fraction(above, below);
}

class Expression {
 public:
  explicit Expression(std::string_view text) : text_(text) {}

  Result<Value> read() {
    MYNAH_TRY(Value value, sum(0));
    skip_spaces();
    if (at_ < text_.size()) {
      return refuse(fmt::format("wanted an operator, found '{}'", rest()));
    }
    return value;
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::InvalidInput, fmt::format("at byte {}: {}", at_, what));
  }

  [[nodiscard]] std::string rest() const {
    constexpr size_t kShown = 20;
    return std::string(text_.substr(at_, kShown));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  // Takes a sign where it stands.
  bool takes(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) {
      return false;
    }
    at_ += sign.size();
    return true;
  }

  Result<Value> bounded(Value value) const {
    if (value.exact && bits_of(*value.exact) > kMostNumberBits) {
      return refuse("the number becomes too large");
    }
    if (!value.exact && !std::isfinite(value.about)) {
      return refuse("that is no number, or one that is too large");
    }
    return value;
  }

  // Of two values: exactly where both are exact.
  template <class Exact, class About>
  Result<Value> of_both(const Value& a, const Value& b, Exact exact, About about) const {
    if (a.exact && b.exact) {
      return bounded(Value(Fraction(exact(*a.exact, *b.exact))));
    }
    return bounded(Value(static_cast<double>(about(a.about, b.about))));
  }

  Result<Value> sum(int depth) {
    MYNAH_TRY(Value value, product(depth));
    for (;;) {
      if (takes("+")) {
        MYNAH_TRY(const Value next, product(depth));
        MYNAH_TRY(value, of_both(value, next, std::plus<>(), std::plus<>()));
      } else if (takes("-") || takes("−")) {
        MYNAH_TRY(const Value next, product(depth));
        MYNAH_TRY(value, of_both(value, next, std::minus<>(), std::minus<>()));
      } else {
        return value;
      }
    }
  }

  Result<Value> product(int depth) {
    MYNAH_TRY(Value value, signed_power(depth));
    for (;;) {
      if (takes("*") || takes("×") || takes("·")) {
        MYNAH_TRY(const Value next, signed_power(depth));
        MYNAH_TRY(value, of_both(value, next, std::multiplies<>(), std::multiplies<>()));
      } else if (takes("/") || takes("÷") || takes(":")) {
        MYNAH_TRY(const Value next, signed_power(depth));
        if (next.exact ? *next.exact == 0 : next.about == 0) {
          return refuse("nothing can be divided by zero");
        }
        MYNAH_TRY(value, of_both(value, next, std::divides<>(), std::divides<>()));
      } else {
        return value;
      }
    }
  }

  // A sign binds less than a power: -2^2 is -4.
  Result<Value> signed_power(int depth) {
    if (depth > kMostExpressionDepth) {
      return refuse(fmt::format("brackets and signs stand more than {} deep in each other",
                                kMostExpressionDepth));
    }
    if (takes("-") || takes("−")) {
      MYNAH_TRY(const Value value, signed_power(depth + 1));
      return value.exact ? Value(Fraction(-*value.exact)) : Value(-value.about);
    }
    if (takes("+")) {
      return signed_power(depth + 1);
    }
    MYNAH_TRY(Value base, marked(depth));
    if (takes("^") || takes("**")) {
      MYNAH_TRY(const Value exponent, signed_power(depth + 1));
      return raised(base, exponent);
    }
    return base;
  }

  [[nodiscard]] Result<Value> raised(const Value& base, const Value& exponent) const {
    if (base.exact && exponent.is_whole() && bits_of(*exponent.exact) <= 16) {
      const int times = exponent.exact->convert_to<int>();
      if (*base.exact == 0 && times < 0) {
        return refuse("nothing can be divided by zero");
      }
      const auto count = static_cast<unsigned>(std::abs(times));
      // The sizes of 0, 1 and -1 stay what they are.
      if (bits_of(*base.exact) > 1 &&
          static_cast<uint64_t>(bits_of(*base.exact) - 1) * count > kMostNumberBits) {
        return refuse("the number becomes too large");
      }
      Fraction power(pow(numerator(*base.exact), count), pow(denominator(*base.exact), count));
      return bounded(Value(times < 0 ? Fraction(1 / power) : power));
    }
    if (base.exact && exponent.exact && *exponent.exact == Fraction(1, 2)) {
      return root(base);
    }
    return bounded(Value(std::pow(base.about, exponent.about)));
  }

  [[nodiscard]] Result<Value> root(const Value& value) const {
    if (value.exact) {
      if (const auto exact = exact_root(*value.exact)) {
        return Value(*exact);
      }
    }
    if (value.about < 0) {
      return refuse("a negative number has no square root here");
    }
    return bounded(Value(std::sqrt(value.about)));
  }

  // A value with what stands behind it: 20%, 5!.
  Result<Value> marked(int depth) {
    MYNAH_TRY(Value value, single(depth));
    for (;;) {
      if (takes("%")) {
        MYNAH_TRY(value, of_both(value, Value(Fraction(100)), std::divides<>(), std::divides<>()));
      } else if (takes("!")) {
        MYNAH_TRY(value, factorial(value));
      } else {
        return value;
      }
    }
  }

  [[nodiscard]] Result<Value> factorial(const Value& value) const {
    constexpr int kMostFactorial = 900;  // has 7,551 bits
    if (!value.is_whole() || *value.exact < 0 || *value.exact > kMostFactorial) {
      return refuse(fmt::format("wanted a whole number from 0 to {} before !", kMostFactorial));
    }
    Whole product = 1;
    for (int i = 2; i <= value.exact->convert_to<int>(); ++i) {
      product *= i;
    }
    return Value(Fraction(product));
  }

  Result<Value> single(int depth) {
    skip_spaces();
    if (at_ == text_.size()) {
      return refuse("wanted a number, found the end");
    }
    if (takes("(")) {
      MYNAH_TRY(Value value, deeper(depth));
      return takes(")") ? Result<Value>(std::move(value)) : refuse("wanted a closing bracket");
    }
    if (takes("√")) {
      MYNAH_TRY(const Value value, single_deeper(depth));
      return root(value);
    }
    const char first = text_[at_];
    if ((first >= '0' && first <= '9') || first == '.') {
      return number();
    }
    return named(depth);
  }

  Result<Value> deeper(int depth) {
    if (depth >= kMostExpressionDepth) {
      return refuse(fmt::format("brackets and signs stand more than {} deep in each other",
                                kMostExpressionDepth));
    }
    return sum(depth + 1);
  }

  Result<Value> single_deeper(int depth) {
    if (depth >= kMostExpressionDepth) {
      return refuse("roots stand too deep in each other");
    }
    return single(depth + 1);
  }

  std::string_view digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  Result<Value> number() {
    std::string written(digits());
    int exponent = 0;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      const std::string_view places = digits();
      written += places;
      exponent = -static_cast<int>(places.size());
    }
    if (written.empty()) {
      return refuse("wanted a digit");
    }
    if (at_ + 1 < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E') &&
        std::string_view("+-0123456789").find(text_[at_ + 1]) != std::string_view::npos) {
      ++at_;
      const bool is_negative = text_[at_] == '-';
      at_ += is_negative || text_[at_] == '+' ? 1 : 0;
      const std::string_view power = digits();
      constexpr size_t kMostDigits = 4;
      if (power.empty() || power.size() > kMostDigits) {
        return refuse("wanted an exponent of one to four digits");
      }
      exponent += (is_negative ? -1 : 1) * std::stoi(std::string(power));
    }
    constexpr int kMostPlaces = 2400;  // of decimals within kMostNumberBits
    if (std::abs(exponent) > kMostPlaces) {
      return refuse("the number becomes too large");
    }
    // Zeros in front would make it an octal one.
    const size_t begin = std::min(written.find_first_not_of('0'), written.size() - 1);
    return bounded(Value(Fraction(Whole(written.substr(begin))) * power_of_ten(exponent)));
  }

  Result<Value> named(int depth) {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z') ||
            (at_ > begin && text_[at_] >= '0' && text_[at_] <= '9'))) {
      ++at_;
    }
    const std::string name(text_.substr(begin, at_ - begin));
    if (name == "pi") {
      return Value(std::numbers::pi);
    }
    if (name == "e") {
      return Value(std::numbers::e);
    }
    if (name.empty() || !takes("(")) {
      at_ = begin;
      return refuse(fmt::format("wanted a number, found '{}'", rest()));
    }
    std::vector<Value> given;
    do {
      MYNAH_TRY(Value value, deeper(depth));
      given.push_back(std::move(value));
    } while (takes(","));
    if (!takes(")")) {
      return refuse("wanted a closing bracket");
    }
    return function(name, given);
  }

  [[nodiscard]] Result<Value> function(const std::string& name,
                                       const std::vector<Value>& given) const {
    if (name == "min" || name == "max") {
      return *std::ranges::min_element(given, [&](const Value& a, const Value& b) {
        const bool is_less = a.exact && b.exact ? *a.exact < *b.exact : a.about < b.about;
        const bool is_more = a.exact && b.exact ? *a.exact > *b.exact : a.about > b.about;
        return name == "min" ? is_less : is_more;
      });
    }
    if (name == "round" && given.size() <= 2) {
      return round_of(given);
    }
    if ((name == "mod" || name == "gcd") && given.size() == 2) {
      return of_whole(name, given[0], given[1]);
    }
    if (given.size() != 1) {
      return refuse(fmt::format("{} does not take {} numbers", name, given.size()));
    }
    return of_one(name, given.front());
  }

  [[nodiscard]] Result<Value> round_of(const std::vector<Value>& given) const {
    constexpr int kMostPlaces = 100;
    int places = 0;
    if (given.size() == 2) {
      if (!given[1].is_whole() || abs(*given[1].exact) > kMostPlaces) {
        return refuse(fmt::format("wanted to round to at most {} places", kMostPlaces));
      }
      places = given[1].exact->convert_to<int>();
    }
    // A double is a fraction, too.
    return bounded(
        Value(rounded(given[0].exact ? *given[0].exact : Fraction(given[0].about), places)));
  }

  [[nodiscard]] Result<Value> of_whole(const std::string& name, const Value& a,
                                       const Value& b) const {
    if (!a.exact || !b.exact) {
      return refuse(fmt::format("{} is of numbers that are exact", name));
    }
    if (name == "gcd") {
      if (!a.is_whole() || !b.is_whole()) {
        return refuse("gcd is of whole numbers");
      }
      return Value(Fraction(gcd(numerator(*a.exact), numerator(*b.exact))));
    }
    if (*b.exact == 0) {
      return refuse("nothing can be divided by zero");
    }
    return bounded(
        Value(Fraction(*a.exact - *b.exact * Fraction(floor_of(Fraction(*a.exact / *b.exact))))));
  }

  [[nodiscard]] Result<Value> of_one(const std::string& name, const Value& value) const {
    if (name == "sqrt") {
      return root(value);
    }
    if (name == "abs") {
      return value.exact ? Value(Fraction(abs(*value.exact))) : Value(std::abs(value.about));
    }
    if (name == "floor" || name == "ceil") {
      const Fraction number = value.exact ? *value.exact : Fraction(value.about);
      return name == "floor" ? Value(Fraction(floor_of(number)))
                             : Value(Fraction(-floor_of(Fraction(-number))));
    }
    using About = double (*)(double);

    struct Known {
      std::string_view name;
      About about;
    };

    constexpr std::array<Known, 6> kKnown = {{{"exp", std::exp},
                                              {"ln", std::log},
                                              {"log", std::log10},
                                              {"sin", std::sin},
                                              {"cos", std::cos},
                                              {"tan", std::tan}}};
    const auto* const known = std::ranges::find(kKnown, name, &Known::name);
    if (known == kKnown.end()) {
      return refuse(fmt::format("there is no function '{}'", name));
    }
    return bounded(Value(known->about(value.about)));
  }

  std::string_view text_;
  size_t at_ = 0;
};

// All places of a fraction; none: it has no end, or too many.
std::optional<std::string> decimal_of(const Fraction& number) {
  constexpr int kMostPlaces = 40;
  Whole below = denominator(number);
  int twos = 0;
  int fives = 0;
  for (; below % 2 == 0 && twos <= kMostPlaces; ++twos) {
    below /= 2;
  }
  for (; below % 5 == 0 && fives <= kMostPlaces; ++fives) {
    below /= 5;
  }
  const int places = std::max(twos, fives);
  if (below != 1 || places > kMostPlaces) {
    return std::nullopt;
  }
  std::string digits = Whole(numerator(abs(number) * power_of_ten(places))).str();
  if (places > 0) {
    const auto width = static_cast<size_t>(places) + 1;
    digits.insert(0, digits.size() < width ? width - digits.size() : 0, '0');
    digits.insert(digits.size() - static_cast<size_t>(places), ".");
  }
  return (number < 0 ? "-" : "") + digits;
}

}  // namespace

Result<std::string> compute(std::string_view expression) {
  if (expression.size() > kMostExpressionBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted an expression of at most {} bytes, found {}",
                            kMostExpressionBytes, expression.size()));
  }
  MYNAH_TRY(const Value value, Expression(expression).read());
  constexpr int kPlaces = 15;  // that a double is sure of
  std::string about = fmt::format("about {:.{}g}", value.about, kPlaces);
  if (!value.exact) {
    return about;
  }
  if (auto decimal = decimal_of(*value.exact)) {
    return *std::move(decimal);
  }
  constexpr size_t kMostShown = 60;
  const std::string fraction = value.exact->str();
  return fraction.size() <= kMostShown ? fmt::format("{}, {}", fraction, about) : about;
}

}  // namespace mynah::talk
