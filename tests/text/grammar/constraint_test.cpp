// Constraints against texts that fit and texts that do not (cases.json), and what they refuse.
#include "text/grammar/constraint.h"

#include <fstream>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "byte_vocabulary.h"
#include "constraint_cases.h"
#include "test_paths.h"
#include "text/grammar/constraint_cache.h"

namespace mynah::grammar {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

const Json& cases() {
  static const Json kCases =
      Json::parse(std::ifstream(test::source_path("tests/text/grammar/cases.json")));
  return kCases;
}

std::shared_ptr<const Constraint> made(const ConstraintSource& source) {
  return compiled(source, byte_vocabulary()).value();
}

ConstraintSource gbnf(std::string text) {
  return {.kind = ConstraintSource::Kind::Gbnf, .text = std::move(text)};
}

std::vector<int32_t> allowed(const ConstraintState& state) {
  std::vector<uint32_t> bits(state.constraint().vocabulary().mask_words());
  const Status made = state.mask(bits);
  std::vector<int32_t> tokens;
  for (int32_t token = 0; token < state.constraint().vocabulary().size(); ++token) {
    if (has_token_bit(bits, token)) {
      tokens.push_back(token);
    }
  }
  EXPECT_EQ(made.has_value(), !tokens.empty());
  return tokens;
}

TEST(Constraint, TakesWhatFitsAndNothingElse) {
  for (const Json& one : cases()) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const auto constraint = compiled(source_of(one), byte_vocabulary());
    if (one.contains("error")) {
      ASSERT_FALSE(constraint.has_value());
      EXPECT_THAT(constraint.error().message, HasSubstr(one.at("error").get<std::string>()));
      continue;
    }
    ASSERT_TRUE(constraint.has_value()) << constraint.error().message;
    for (const bool fits : {true, false}) {
      for (const Json& said : one.at(fits ? "accept" : "refuse")) {
        const std::string text = text_of(said);
        const Status by_masks = accepts(*constraint, text);
        EXPECT_EQ(by_masks.has_value(), fits)
            << text.substr(0, 200) << (fits ? by_masks.error().message : "");
        ConstraintState state(*constraint);
        EXPECT_EQ(state.accept(text).has_value() && state.may_end(), fits) << text.substr(0, 200);
      }
    }
  }
}

TEST(Constraint, SaysWhereATextStopsToFit) {
  const auto constraint = made({.kind = ConstraintSource::Kind::JsonObject});
  EXPECT_THAT(accepts(constraint, "{\"a\":x").error().message,
              HasSubstr("at byte 5: \"x\" may not"));
  EXPECT_THAT(accepts(constraint, "{").error().message, HasSubstr("at byte 1: the text ends"));
  ConstraintState state(constraint);
  EXPECT_THAT(state.accept("{\n]").error().message,
              HasSubstr("\"]\" may not come here, byte 2 of 3"));
  EXPECT_TRUE(state.accept("{}").has_value()) << "nothing was taken before";
}

TEST(Constraint, EndsOnlyWhereItMay) {
  ConstraintState state(made(gbnf("root ::= \"ab\" \"c\"?")));
  EXPECT_THAT(allowed(state), testing::Contains('a'));
  EXPECT_FALSE(state.accept(kByteEnd).has_value());
  ASSERT_TRUE(state.accept("ab").has_value());
  EXPECT_THAT(allowed(state), testing::ElementsAre('c', kByteEnd));
  ASSERT_TRUE(state.accept('c').has_value());
  EXPECT_THAT(allowed(state), testing::ElementsAre(kByteEnd));
  ASSERT_TRUE(state.accept(kByteEnd).has_value());
  EXPECT_TRUE(state.ended());
  EXPECT_THAT(allowed(state), testing::IsEmpty());
  EXPECT_FALSE(state.accept(kByteEnd).has_value());
  EXPECT_FALSE(state.accept("c").has_value());
}

TEST(Constraint, RefusesTokensThatAreNone) {
  ConstraintState state(made(gbnf("root ::= .*")));
  EXPECT_FALSE(state.accept(-1).has_value());
  EXPECT_FALSE(state.accept(1 << 20).has_value());
  const std::vector<std::string> tokens = {"a", "<s>", ""};
  const std::vector<int32_t> wrong = {3};
  EXPECT_FALSE(TokenVocabulary::create({.bytes = tokens, .control = wrong}).has_value());
  const std::vector<int32_t> control = {1};
  const auto vocabulary = TokenVocabulary::create({.bytes = tokens, .control = control}).value();
  ConstraintState other(compiled(gbnf("root ::= .*"), vocabulary).value());
  EXPECT_THAT(allowed(other), testing::ElementsAre(0)) << "no special token, though its text fits";
  EXPECT_FALSE(other.accept(1).has_value());
  EXPECT_FALSE(other.accept(2).has_value());
}

TEST(Constraint, SaysWhereTheVocabularyCannotWriteIt) {
  const std::vector<std::string> tokens = {"a", "b"};
  const auto vocabulary = TokenVocabulary::create({.bytes = tokens}).value();
  ConstraintState state(compiled(gbnf("root ::= \"a\" \"c\""), vocabulary).value());
  ASSERT_TRUE(state.accept(0).has_value());
  std::vector<uint32_t> bits(1, ~0U);
  EXPECT_THAT(state.mask(bits).error().message, HasSubstr("no token may come next"));
  EXPECT_EQ(bits[0], 0U);
}

TEST(Constraint, ACopyIsABranch) {
  ConstraintState state(made(gbnf("root ::= \"a\" (\"b\" | \"c\") \"d\"")));
  ASSERT_TRUE(state.accept("a").has_value());
  ConstraintState branch = state;
  ASSERT_TRUE(branch.accept("cd").has_value());
  EXPECT_TRUE(branch.may_end());
  EXPECT_FALSE(state.may_end());
  state = branch;
  EXPECT_TRUE(state.may_end());
}

TEST(Constraint, TellsWhatIsForced) {
  ConstraintState state(made(gbnf("root ::= \"{\\\"name\\\": \" [ab] \"é.\"?")));
  EXPECT_EQ(state.forced(), "{\"name\": ");
  EXPECT_EQ(state.forced(3), "{\"n");
  ASSERT_TRUE(state.accept("{\"name\": b").has_value());
  EXPECT_EQ(state.forced(), "") << "it may end";
  ASSERT_TRUE(state.accept("\xC3").has_value());
  EXPECT_EQ(state.forced(), "\xA9.");
}

TEST(Constraint, RefusesTooManyReadings) {
  // After n letters the text may be at the end of as many rules.
  const auto constraint = made(gbnf("root ::= \"a\" root \"b\"? | \"x\""));
  ConstraintState state(constraint);
  ASSERT_TRUE(state.accept(std::string(100, 'a') + "x" + std::string(50, 'b')).has_value());
  ConstraintState deep(constraint);
  const Status taken = deep.accept(std::string(1000, 'a') + "x");
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(taken.error().message, HasSubstr("more than 512 ways at once"));
}

// Where a token is allowed by its own rule, and the stacks below it are too many.
TEST(Constraint, SaysOfAWholeTextThatItHasTooManyReadings) {
  const auto constraint =
      made(gbnf("root ::= s*\ns ::= a? b? c?\na ::= \"a\" s? b?\n"
                "b ::= \"a\" c? a?\nc ::= \"a\" a? b?"));
  EXPECT_THAT(accepts(constraint, std::string(200, 'a')).error().message,
              HasSubstr("more than 512 ways at once"));
}

TEST(Constraint, RefusesWhatIsTooDeep) {
  ConstraintState state(made({.kind = ConstraintSource::Kind::JsonObject}));
  ASSERT_TRUE(state.accept("{\"a\":" + std::string(9000, '[')).has_value());
  EXPECT_FALSE(state.accept(std::string(9000, '[')).has_value());
  EXPECT_TRUE(state.accept(std::string(9000, ']') + "}").has_value());
  EXPECT_TRUE(state.may_end());
}

// Texts that are nested ever differently make it forget, and nobody notices.
TEST(Constraint, ForgetsWhenItHasLearnedTooMuch) {
  const auto constraint = made({.kind = ConstraintSource::Kind::JsonObject});
  std::mt19937 random(1);
  ConstraintState before(constraint);
  ASSERT_TRUE(before.accept("{\"a\":[[").has_value());
  int texts_since = 0;  // it forgot
  size_t kept = 0;
  for (int text = 0; text < 30 && texts_since < 3; ++text) {
    ConstraintState state(constraint);
    ASSERT_TRUE(state.accept("{\"a\":").has_value());
    std::string closing = "}";
    for (int level = 0; level < 5000; ++level) {
      const bool is_list = random() % 2 == 0;
      ASSERT_TRUE(state.accept(is_list ? "[" : "{\"b\":").has_value());
      closing.insert(closing.begin(), is_list ? ']' : '}');
    }
    closing.insert(0, "1");
    EXPECT_TRUE(state.accept(closing).has_value());
    EXPECT_TRUE(state.may_end());
    texts_since += texts_since > 0 || constraint->bytes_kept() < kept ? 1 : 0;
    kept = constraint->bytes_kept();
    EXPECT_LT(kept, size_t{80} << 20);
  }
  EXPECT_GT(texts_since, 0);
  EXPECT_TRUE(before.accept("]]}").has_value());
  EXPECT_TRUE(before.may_end());
}

TEST(ConstraintCache, KeepsTheLastOnes) {
  ConstraintCache cache(byte_vocabulary(), 2);
  const auto a = cache.get(gbnf("root ::= \"a\"")).value();
  const auto b = cache.get(gbnf("root ::= \"b\"")).value();
  EXPECT_EQ(cache.get(gbnf("root ::= \"a\"")).value(), a);
  EXPECT_FALSE(cache.get(gbnf("root = ")).has_value());
  EXPECT_EQ(cache.size(), 2U);
  (void)cache.get({.kind = ConstraintSource::Kind::Regex, .text = "root ::= \"a\""}).value();
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.get(gbnf("root ::= \"a\"")).value(), a);
  EXPECT_NE(cache.get(gbnf("root ::= \"b\"")).value(), b) << "it was the one longest not asked for";
}

TEST(ConstraintCache, KeepsWhatHasRoomTogether) {
  ConstraintCache cache(byte_vocabulary(), 32, 1);
  const auto a = cache.get(gbnf("root ::= \"a\"")).value();
  EXPECT_EQ(cache.get(gbnf("root ::= \"a\"")).value(), a) << "the last one stays in any case";
  (void)cache.get(gbnf("root ::= \"b\"")).value();
  EXPECT_EQ(cache.size(), 1U);
  ConstraintCache large(byte_vocabulary(), 32, size_t{1} << 20);
  const auto first = large.get(gbnf("root ::= \"a\"")).value();
  (void)large.get(gbnf("root ::= \"b\"")).value();
  EXPECT_EQ(large.get(gbnf("root ::= \"a\"")).value(), first);
}

TEST(MaskRow, HasZeroWhereATokenMayCome) {
  const std::vector<uint32_t> bits = {1U << 31, 2};
  std::vector<float> row(40, 5.0F);
  write_mask_row(bits, row);
  for (size_t token = 0; token < row.size(); ++token) {
    EXPECT_EQ(row[token],
              token == 31 || token == 33 ? 0.0F : -std::numeric_limits<float>::infinity());
  }
}

}  // namespace
}  // namespace mynah::grammar
