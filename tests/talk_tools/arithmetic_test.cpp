// Arithmetic: against Python's fractions, what people write, and what must be refused.
#include "talk/tools/arithmetic.h"

#include <fstream>
#include <string>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

// "3/4", "0.75" and "3/4, about 0.75" as one fraction.
boost::multiprecision::cpp_rational fraction_of(std::string text) {
  using boost::multiprecision::cpp_int;
  text = text.substr(0, text.find(','));
  const size_t point = text.find('.');
  if (point == std::string::npos) {
    return boost::multiprecision::cpp_rational(text);
  }
  const size_t places = text.size() - point - 1;
  text.erase(point, 1);
  const bool is_negative = text.front() == '-';
  text.erase(0, std::min(text.find_first_not_of("-0"), text.size() - 1));
  const boost::multiprecision::cpp_rational magnitude(
      cpp_int(text), pow(cpp_int(10), static_cast<unsigned>(places)));
  return is_negative ? boost::multiprecision::cpp_rational(-magnitude) : magnitude;
}

std::string computed(const std::string& expression) {
  const auto value = compute(expression);
  return value ? *value : "refused: " + value.error().message;
}

TEST(Arithmetic, IsWhatPythonsFractionsSay) {
  std::ifstream cases(MYNAH_SOURCE_DIR "/tests/talk_tools/arithmetic_cases.tsv");
  int count = 0;
  for (std::string line; std::getline(cases, line); ++count) {
    const size_t tab = line.find('\t');
    const std::string expression = line.substr(0, tab);
    const auto value = compute(expression);
    ASSERT_TRUE(value) << expression << ": " << value.error().message;
    if (!value->starts_with("about")) {  // a fraction too long to be shown
      EXPECT_EQ(fraction_of(*value), fraction_of(line.substr(tab + 1))) << expression;
    }
  }
  EXPECT_EQ(count, 300);
}

TEST(Arithmetic, ReadsWhatPeopleWrite) {
  EXPECT_EQ(computed("19.99 * 3 + 20% * 50"), "69.97");
  EXPECT_EQ(computed("2 + 3 × 4 ÷ 2 − 1"), "7");
  EXPECT_EQ(computed("-2^2"), "-4") << "as on paper";
  EXPECT_EQ(computed("2^3^2"), "512") << "from the right";
  EXPECT_EQ(computed("2**10"), "1024");
  EXPECT_EQ(computed("1/3"), "1/3, about 0.333333333333333");
  EXPECT_EQ(computed("0.1 + 0.2"), "0.3") << "no binary fractions";
  EXPECT_EQ(computed("sqrt(2)"), "about 1.4142135623731");
  EXPECT_EQ(computed("sqrt(144/25)"), "2.4");
  EXPECT_EQ(computed("2^0.5 * 2^0.5"), "about 2");
  EXPECT_EQ(computed("25!/23!"), "600");
  EXPECT_EQ(computed("max(1, 7/2, 3) + min(4, -2)"), "1.5");
  EXPECT_EQ(computed("round(10/3, 2)"), "3.33");
  EXPECT_EQ(computed("round(-2.5)"), "-3") << "half goes away from zero";
  EXPECT_EQ(computed("mod(-7, 3)"), "2");
  EXPECT_EQ(computed("gcd(84, 36)"), "12");
  EXPECT_EQ(computed("ln(e)"), "about 1");
  EXPECT_EQ(computed("1.5e3"), "1500");
  EXPECT_EQ(computed("007"), "7") << "decimal";
  EXPECT_EQ(computed(".5"), "0.5");
  EXPECT_EQ(computed("2^100"), "1267650600228229401496703205376");
  EXPECT_EQ(computed("(10^300*7)/(10^300*3)"), "7/3, about 2.33333333333333")
      << "beyond a double's range on both sides";
}

TEST(Arithmetic, RefusesWhatIsNone) {
  for (const std::string expression :
       {"",           "1 +",   "(1",        "1)",       "1 2",     "abc",      "system('ls')",
        "__import__", "1/0",   "0^-1",      "mod(1,0)", "1/(2-2)", "sqrt(-1)", "(-1)!",
        "1.5!",       "min()", "sin(1, 2)", "ln(0)",    "1e",      "1e99999",  "gcd(1.5, 2)",
        "nope(1)",    "1..2",  "0x10"}) {
    const auto value = compute(expression);
    EXPECT_FALSE(value) << expression << " is " << *value;
    if (!value) {
      EXPECT_EQ(value.error().code, ErrorCode::InvalidInput);
    }
  }
}

TEST(Arithmetic, NeverComputesLong) {
  for (const std::string expression :
       {"9^9^9", "9^9^9^9", "2^8193", "1000000!", "10^2400*10^2400", "1e2400*1e2400",
        "((2^8000)^2)^2", "(1/3)^9999", "2^-9000", "exp(10000)"}) {
    EXPECT_FALSE(compute(expression)) << expression;
  }
  EXPECT_TRUE(compute("2^8191"));
  EXPECT_EQ(computed("1^60000"), "1");
  EXPECT_EQ(computed("(-1)^-65535"), "-1");
  EXPECT_FALSE(compute(std::string(kMostExpressionBytes + 1, '1')));
  for (const std::string& piece : {std::string("("), std::string("-"), std::string("2^"),
                                   std::string("abs("), std::string("√")}) {
    std::string deep;
    while (deep.size() + piece.size() < kMostExpressionBytes) {
      deep += piece;
    }
    EXPECT_FALSE(compute(deep)) << piece;
  }
}

}  // namespace
}  // namespace mynah::talk
