#include "doctor/versions.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "doctor/table_rows.h"

namespace mynah::doctor {

namespace {

std::string normalised(const std::string& text) {
  const auto version = Version::parse(text);
  return version ? version->text() : "-";
}

std::string order(const std::string& a, const std::string& b) {
  const auto sign = Version::parse(a).value() <=> Version::parse(b).value();
  return sign < 0 ? "<" : sign > 0 ? ">" : "=";
}

std::string match(const std::string& set, const std::string& version) {
  const auto parsed = SpecifierSet::parse(set);
  if (!parsed) {
    return "-";
  }
  return parsed->contains(Version::parse(version).value()) ? "1" : "0";
}

}  // namespace

TEST(Versions, AreReadOrderedAndMatchedAsPackagingDoes) {
  std::map<std::string, int> seen;
  for (const auto& row : rows_of("versions.tsv")) {
    ++seen[row[0]];
    if (row[0] == "version") {
      EXPECT_EQ(normalised(row[1]), row[2]) << row[1];
    } else if (row[0] == "order") {
      EXPECT_EQ(order(row[1], row[2]), row[3]) << row[1] << " and " << row[2];
    } else {
      EXPECT_EQ(match(row[1], row[2]), row[3]) << row[2] << " in " << row[1];
    }
  }
  EXPECT_GE(seen["version"], 80);
  EXPECT_GE(seen["order"], 200);
  EXPECT_GE(seen["match"], 500);
}

TEST(Versions, SayWhatIsWrongWithAText) {
  EXPECT_EQ(Version::parse("two").error().message, "wanted a version (PEP 440), found \"two\"");
  EXPECT_EQ(SpecifierSet::parse(">=1.0,~=2").error().message,
            "specifier \"~=2\": wanted two numbers at least behind ~=");
}

TEST(Versions, OfSoManyDigitsThatNoNumberHoldsThemAreRefused) {
  EXPECT_TRUE(Version::parse("999999999999999999"));
  EXPECT_FALSE(Version::parse("1000000000000000000000"));
  EXPECT_FALSE(Version::parse("1.1000000000000000000000"));
  EXPECT_FALSE(Version::parse("1.0+1000000000000000000000"));
}

TEST(Versions, AnEmptySetTakesAnyVersion) {
  EXPECT_TRUE(SpecifierSet::parse("")->contains(Version::parse("1.0rc1").value()));
  EXPECT_TRUE(SpecifierSet::parse(" , ")->clauses.empty());
}

TEST(Versions, ASetSaysWhichVersionItPins) {
  EXPECT_EQ(SpecifierSet::parse(">=1,==2.7.1+cu126")->pinned()->text(), "2.7.1+cu126");
  EXPECT_EQ(SpecifierSet::parse("===2.7")->pinned()->text(), "2.7");
  EXPECT_FALSE(SpecifierSet::parse("==2.7.*,>=2")->pinned());
}

}  // namespace mynah::doctor
