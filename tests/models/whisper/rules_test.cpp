// Tokens that a user's pattern forbids.
#include "models/whisper/rules.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "models/whisper/tiny_model.h"

namespace mynah::whisper {
namespace {

class SuppressRegex : public testing::Test {
 protected:
  [[nodiscard]] Result<TokenRules> rules(const std::string& pattern) {
    return TokenRules::create(model_->tokenizer(),
                              {.suppress_tokens = {}, .suppress_regex = pattern}, backend_);
  }

  [[nodiscard]] std::vector<std::string> texts(const std::string& pattern) {
    const auto made = rules(pattern);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    std::vector<std::string> texts;
    for (const int32_t token : made ? made->suppressed() : std::span<const int32_t>{}) {
      texts.push_back(model_->tokenizer().bytes(token));
    }
    return texts;
  }

  RefBackend backend_;
  std::shared_ptr<const Model> model_ = test::tiny_model(false, backend_);
};

TEST_F(SuppressRegex, ForbidsTokensWhoseWholeTextItIs) {
  EXPECT_THAT(texts("[7-9]+"), testing::ElementsAre("7", "8", "9"));
  EXPECT_THAT(texts(" w300|w301| w302"), testing::ElementsAre(" w300", " w302"));
  EXPECT_THAT(texts(R"(\sw40\d)"), testing::SizeIs(10));
  EXPECT_THAT(texts("nobody writes this"), testing::IsEmpty());
}

TEST_F(SuppressRegex, MayBeOneThatBacktrackingNeverEnds) {
  EXPECT_THAT(texts("( *w*[0-9]*)*x"), testing::ElementsAre("x"));
}

TEST_F(SuppressRegex, IsRefusedWithTheReasonWhereItIsNoneOfRe2s) {
  for (const std::string pattern : {"(", "[z-a]", "(?=a)b", "(?<!a)b", R"((a)\1)", "a{1001}"}) {
    const auto made = rules(pattern);
    ASSERT_FALSE(made.has_value()) << pattern;
    EXPECT_EQ(made.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(made.error().message, testing::HasSubstr("RE2"));
    EXPECT_THAT(made.error().message, testing::HasSubstr("\"" + pattern + "\": "));
  }
}

}  // namespace
}  // namespace mynah::whisper
