// What may come in a reply: thoughts of so many tokens, calls that keep to their schemas from their
// marker on, in every family's format.
#include "chat/reply_rule.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "chat/chat_prompt.h"
#include "chat/reply/reply_markers.h"
#include "chat/reply/reply_parser.h"
#include "chat/reply_constraints.h"
#include "chat/tiny_language.h"
#include "formats/open.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

const std::vector<ReplyTool> kTools = {
    {.name = "get_weather",
     .parameters = R"({"type": "object", "properties": {"days": {"type": "integer", "minimum": 1,
         "maximum": 9}, "city": {"enum": ["Bern", "Rom"], "type": "string"}, "note": {"type": "string"}},
         "required": ["days", "city"]})"},
    {.name = "stop", .parameters = R"({"type": "object", "properties": {}})"}};

class ReplyRuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = open_tensor_file(test::write_tiny_language(folder_ / "tiny.gguf"));
    ASSERT_TRUE(file) << file.error().message;
    auto prompt = ChatPrompt::read(*file);
    ASSERT_TRUE(prompt) << prompt.error().message;
    prompt_ = std::make_unique<ChatPrompt>(*std::move(prompt));
  }

  [[nodiscard]] const TextTokenizer& tokenizer() const { return prompt_->tokenizer(); }

  [[nodiscard]] std::vector<int32_t> tokens_of(const std::string& text) const {
    const PromptPart part{.text = text, .given = false};
    return tokenizer().encode_template({&part, 1});
  }

  void take(ReplyRule& rule, const std::string& text) const {
    for (const int32_t token : tokens_of(text)) {
      rule.take(token);
    }
  }

  // The tokens that may come; all: empty.
  static std::vector<int32_t> allowed(ReplyRule& rule) {
    std::vector<int32_t> tokens;
    const auto bits = rule.allowed();
    for (size_t i = 0; i < bits.size() * 32; ++i) {
      if ((bits[i / 32] >> (i % 32) & 1U) != 0) {
        tokens.push_back(static_cast<int32_t>(i));
      }
    }
    return tokens;
  }

  [[nodiscard]] bool is_end(int32_t token) const {
    const auto& ends = tokenizer().special().reply_ends;
    return std::ranges::find(ends, token) != ends.end();
  }

  // Text that the rule leaves, drawn; what ends strings and objects comes more often. Where all may
  // come it is that of a thought, with its end. "": it did not end in time.
  std::string written(ReplyRule& rule, std::mt19937& random,
                      const std::string& thought = "") const {
    std::string text;
    for (int i = 0; i < 600; ++i) {
      std::vector<int32_t> tokens = allowed(rule);
      if (tokens.empty() && !thought.empty()) {
        take(rule, thought);
        text += thought;
        continue;
      }
      EXPECT_FALSE(tokens.empty());
      const auto closes = [&](int32_t token) {
        return is_end(token) || std::string("\"}])<`").contains(tokenizer().bytes(token).front());
      };
      std::vector<int32_t> closing;
      std::ranges::copy_if(tokens, std::back_inserter(closing), closes);
      const auto& from = closing.empty() || random() % 3 == 0 ? tokens : closing;
      const int32_t token = from[random() % from.size()];
      if (is_end(token)) {
        return text;
      }
      rule.take(token);
      text += tokenizer().bytes(token);
    }
    return {};
  }

  // The message that a text of the format is, of one call or more.
  static ReplyMessage called(const CallFormat& format, const std::string& text) {
    ReplyOptions options;
    options.tools = kTools;
    ReplyParser parser(reply_format(format.name, "think"), options);
    static_cast<void>(parser.push({.text = text, .is_control = false}));
    static_cast<void>(parser.finish());
    EXPECT_FALSE(parser.message().calls.empty()) << text;
    for (const ToolCall& call : parser.message().calls) {
      EXPECT_TRUE(call.valid) << text << "\n" << call.name << call.arguments;
      const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
      if (call.name == "get_weather") {
        EXPECT_TRUE(arguments["days"].is_number_integer() && arguments["days"] >= 1 &&
                    arguments["days"] <= 9)
            << text;
        EXPECT_TRUE(arguments["city"] == "Bern" || arguments["city"] == "Rom") << text;
      } else {
        EXPECT_EQ(call.name, "stop") << text;
      }
    }
    return parser.message();
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<ChatPrompt> prompt_;
};

// Whatever may come behind a marker is read as calls whose arguments keep to their schema.
TEST_F(ReplyRuleTest, CallsKeepToTheirSchemaInEveryFormat) {
  std::mt19937 random(7);
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  for (const CallFormat& format : call_formats()) {
    SCOPED_TRACE(format.name);
    auto calls = constraints.calls(format, kTools, {.several = false});
    ASSERT_TRUE(calls) << calls.error().message;
    EXPECT_TRUE(calls->notes.empty());
    // A fence and a header stand at a line's beginning.
    const bool begins_line = format.fenced || format.shape == CallShape::Harmony;
    int whole = 0;
    for (int i = 0; i < 12; ++i) {
      std::string begin = begins_line ? "" : "Let me see. ";
      append_spelled(begin, calls->rules.begins.front());
      ReplyRule rule({.thoughts = {}, .content = nullptr, .calls = calls->rules}, tokenizer());
      EXPECT_TRUE(rule.allowed().empty());
      take(rule, begin);
      ASSERT_FALSE(rule.allowed().empty());
      const std::string text = written(rule, random);
      if (text.empty()) {
        continue;
      }
      ++whole;
      EXPECT_EQ(called(format, begin + text).calls.size(), 1U) << text;
    }
    EXPECT_GT(whole, 0);
  }
}

// Calls that must come are written from the first token on, in every family's format; where the
// model thinks, behind a thought or without one.
TEST_F(ReplyRuleTest, CallsThatMustComeBeginTheContentInEveryFormat) {
  std::mt19937 random(11);
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  size_t most = 0;
  for (const CallFormat& format : call_formats()) {
    SCOPED_TRACE(format.name);
    const ThoughtMarkers thoughts =
        thought_markers(std::string(test::kTinyTemplate), reply_format(format.name, "think"));
    ASSERT_FALSE(thoughts.end.empty());
    int whole = 0;
    for (int i = 0; i < 5; ++i) {
      const bool thinks = i >= 2;
      const bool several = i % 2 > 0;
      const auto calls = constraints.calls(
          format, kTools, {.several = several, .must_come = true, .behind_thought = thinks});
      ASSERT_TRUE(calls) << calls.error().message;
      EXPECT_TRUE(calls->notes.empty());
      EXPECT_TRUE(calls->rules.begins.empty());
      ReplyRule rule(
          {.thoughts = thinks ? ThoughtMarkers{.begin = thoughts.begin, .end = thoughts.end}
                              : ThoughtMarkers(),
           .content = calls->rules.constraint,
           .may_think = thinks,
           .calls = {}},
          tokenizer());
      ASSERT_FALSE(rule.allowed().empty());
      std::string text = i == 2 || i == 3 ? thoughts.begin : "";
      for (const int32_t token : tokens_of(text)) {
        EXPECT_THAT(allowed(rule), testing::Contains(token));
        rule.take(token);
      }
      text += written(rule, random, "I see. " + thoughts.end);
      if (text.empty() || text == thoughts.begin) {
        continue;
      }
      ++whole;
      const ReplyMessage message = called(format, text);
      EXPECT_EQ(message.content, "") << text;
      EXPECT_TRUE(several || message.calls.size() == 1) << text;
      EXPECT_EQ(text.starts_with(thoughts.begin), message.reasoning.starts_with("I see.")) << text;
      most = std::max(most, message.calls.size());
    }
    EXPECT_GT(whole, 0);
  }
  EXPECT_GT(most, 1U);
}

TEST_F(ReplyRuleTest, AThoughtBeforeCallsThatMustComeHasItsTokens) {
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  const auto calls = constraints.calls(reply_format("hermes", "think").calls, kTools,
                                       {.must_come = true, .behind_thought = true});
  ASSERT_TRUE(calls);
  const auto rule_of = [&](bool may_think) {
    return ReplyRule({.thoughts = {.begin = "<think>", .end = "</think>"},
                      .most_thought = 1,
                      .content = calls->rules.constraint,
                      .may_think = may_think,
                      .calls = {}},
                     tokenizer());
  };
  const int32_t think = tokens_of("<think>").front();
  const int32_t end = tokens_of("</think>").front();
  ReplyRule rule = rule_of(true);
  EXPECT_THAT(allowed(rule), testing::Contains(think));
  rule.take(think);
  EXPECT_TRUE(rule.allowed().empty());
  take(rule, "x");
  EXPECT_EQ(allowed(rule), std::vector<int32_t>{end});
  rule.take(end);
  EXPECT_THAT(allowed(rule), testing::Contains(tokens_of("<tool_call>").front()));
  EXPECT_THAT(allowed(rule), testing::Not(testing::Contains(think))) << "one thought is enough";
  ReplyRule off = rule_of(false);
  EXPECT_THAT(allowed(off), testing::Not(testing::Contains(think)));
}

TEST_F(ReplyRuleTest, AnObjectAtTheBeginningIsACallWhereTheFamilyWritesItSo) {
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  const auto calls =
      constraints.calls(reply_format("llama3", "think").calls, kTools, {.several = true});
  ASSERT_TRUE(calls);
  const auto rule_of = [&] {
    return ReplyRule({.thoughts = {}, .content = nullptr, .calls = calls->rules}, tokenizer());
  };
  ReplyRule object = rule_of();
  take(object, "\n{");
  EXPECT_EQ(allowed(object).size(), 1U);
  ReplyRule text = rule_of();
  take(text, "So {");
  EXPECT_TRUE(text.allowed().empty());
}

TEST_F(ReplyRuleTest, AMarkerInAThoughtBeginsNoCall) {
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  const auto calls =
      constraints.calls(reply_format("hermes", "think").calls, kTools, {.several = true});
  ASSERT_TRUE(calls);
  ReplyRule rule({.thoughts = {.begin = "<think>", .end = "</think>"},
                  .content = nullptr,
                  .calls = calls->rules},
                 tokenizer());
  take(rule, "<think>I could write <tool_call>");
  EXPECT_TRUE(rule.allowed().empty());
  take(rule, "</think>Now <tool_call>");
  EXPECT_FALSE(rule.allowed().empty());
}

TEST_F(ReplyRuleTest, AToolThatCannotBeKeptToIsNotedOrRefused) {
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  std::vector<ReplyTool> tools = kTools;
  tools[0].parameters = R"({"type": "object", "properties": {"a": {"not": {}}}})";
  const CallFormat format = reply_format("hermes", "think").calls;
  const auto noted = constraints.calls(format, tools, {.several = true});
  ASSERT_TRUE(noted) << noted.error().message;
  ASSERT_EQ(noted->notes.size(), 1U);
  EXPECT_NE(noted->notes[0].text.find("get_weather"), std::string::npos);
  EXPECT_NE(noted->rules.constraint, nullptr);
  tools[0].strict = true;
  const auto refused = constraints.calls(format, tools, {.several = true});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("get_weather"), std::string::npos);
}

TEST_F(ReplyRuleTest, AThoughtIsEndedWhenItHasItsTokens) {
  ReplyRule rule({.thoughts = {.begin = "<think>", .end = "</think>"},
                  .thinks = true,
                  .most_thought = 3,
                  .content = nullptr,
                  .calls = {}},
                 tokenizer());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(rule.allowed().empty());
    take(rule, "x");
  }
  EXPECT_FALSE(rule.ended_thought());
  const std::vector<int32_t> end = tokens_of("</think>");
  ASSERT_EQ(end.size(), 1U);
  EXPECT_EQ(allowed(rule), end);
  EXPECT_TRUE(rule.ended_thought());
  const auto ahead = rule.copy();
  ahead->take(end[0]);
  EXPECT_TRUE(ahead->allowed().empty());
  EXPECT_EQ(allowed(rule), end);  // the copy went on, it did not
  rule.take(end[0]);
  EXPECT_TRUE(rule.allowed().empty());
}

TEST_F(ReplyRuleTest, AThoughtOfTheModelsOwnCounts) {
  ReplyRule rule({.thoughts = {.begin = "<think>", .end = "</think>"},
                  .thinks = false,
                  .most_thought = 0,
                  .content = nullptr,
                  .calls = {}},
                 tokenizer());
  EXPECT_TRUE(rule.allowed().empty());
  take(rule, "<think>");
  EXPECT_EQ(allowed(rule), tokens_of("</think>"));
}

TEST_F(ReplyRuleTest, AFormIsForWhatFollowsTheThought) {
  ReplyConstraints constraints(prompt_->shared_tokenizer());
  const auto seven = constraints.answer({.kind = grammar::ConstraintSource::Kind::Choices,
                                         .text = {},
                                         .choices = {"7"},
                                         .schema = {}});
  ASSERT_TRUE(seven);
  ReplyRule rule({.thoughts = {.begin = "<think>", .end = "</think>"},
                  .thinks = true,
                  .content = *seven,
                  .calls = {}},
                 tokenizer());
  take(rule, "any");
  EXPECT_TRUE(rule.allowed().empty());
  take(rule, "</think>");
  EXPECT_EQ(allowed(rule), tokens_of("7"));
}

}  // namespace
}  // namespace mynah
