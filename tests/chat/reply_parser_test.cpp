// What models write, taken apart: the cases of reply_cases.jsonl in every cut.
#include "chat/reply/reply_parser.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/reply_cases.h"

namespace mynah {
namespace {

using test::cut_anywhere;
using test::Output;
using test::parse;
using test::ReplyCase;

ReplyMessage parse_text(const ReplyFormat& format, const ReplyOptions& options,
                        const std::string& text) {
  return parse(format, options, {{text, false}});
}

// Ids that a case does not tell are taken from the message, where they must be of nine letters.
void expect_message(const ReplyCase& one, const ReplyMessage& message) {
  EXPECT_EQ(message.content, one.expected.content);
  EXPECT_EQ(message.reasoning, one.expected.reasoning);
  ASSERT_EQ(message.calls.size(), one.expected.calls.size());
  for (size_t i = 0; i < message.calls.size(); ++i) {
    const ToolCall& call = message.calls[i];
    const ToolCall& expected = one.expected.calls[i];
    EXPECT_EQ(call.name, expected.name);
    EXPECT_EQ(call.arguments, expected.arguments);
    EXPECT_EQ(call.valid, expected.valid);
    if (expected.id.empty()) {
      EXPECT_EQ(call.id.size(), 9U);
    } else {
      EXPECT_EQ(call.id, expected.id);
    }
  }
}

TEST(ReplyParser, TakesApartWhatFamiliesWrite) {
  for (const ReplyCase& one : test::reply_cases()) {
    SCOPED_TRACE("line " + std::to_string(one.line));
    expect_message(one, parse_text(reply_format(one.calls, one.thoughts), one.options, one.text));
  }
}

TEST(ReplyParser, IsTheSameWhereMarkersAreTokens) {
  for (ReplyCase& one : test::reply_cases()) {
    SCOPED_TRACE("line " + std::to_string(one.line));
    const ReplyFormat format = reply_format(one.calls, one.thoughts);
    one.options.control_markers = test::controls_of(format);
    expect_message(one, parse(format, one.options, test::as_tokens(one.text, one.options)));
  }
}

TEST(ReplyParser, AnyCutGivesTheSame) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (ReplyCase& one : test::reply_cases()) {
    const ReplyFormat format = reply_format(one.calls, one.thoughts);
    for (const bool tokens : {false, true}) {
      one.options.control_markers = tokens ? test::controls_of(format) : nullptr;
      const Output output = test::as_tokens(one.text, one.options);
      const ReplyMessage whole = parse(format, one.options, output);
      for (int i = 0; i < 12; ++i) {
        ASSERT_EQ(parse(format, one.options, cut_anywhere(output, random)), whole)
            << "line " << one.line << (tokens ? " as tokens" : "");
      }
    }
  }
}

// Parts of many formats in any order: most are no calls, and every cut tells the same of them.
TEST(ReplyParser, AnyCutOfAnythingGivesTheSame) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<ReplyCase> cases = test::reply_cases();
  for (const CallFormat& calls : call_formats()) {
    const ReplyFormat format = reply_format(calls.name, "think");
    const std::vector<std::string> markers = test::markers_of(format);
    for (int i = 0; i < 40; ++i) {
      ReplyOptions options = cases[random() % cases.size()].options;
      options.control_markers = test::controls_of(format);
      Output output;
      for (int parts = 0; parts < 6; ++parts) {
        const std::string& text = cases[random() % cases.size()].text;
        const size_t begin = random() % (text.size() + 1);
        output.emplace_back(text.substr(begin, 1 + random() % 40), false);
        output.emplace_back(markers[random() % markers.size()], random() % 2 == 0);
      }
      const ReplyMessage whole = parse(format, options, cut_anywhere(output, random));
      ASSERT_EQ(parse(format, options, cut_anywhere(output, random)), whole) << calls.name;
    }
  }
}

TEST(ReplyParser, TextSpelledLikeATokenIsText) {
  const std::string text = "Write <think> and <tool_call>{\"name\": \"f\"}</tool_call>.";
  ReplyOptions options;
  options.control_markers =
      std::make_shared<Spellings>(Spellings{"<think>", "</think>", "<tool_call>", "</tool_call>"});
  const ReplyMessage message = parse_text(reply_format("hermes", "think"), options, text);
  EXPECT_EQ(message.content, text);
  EXPECT_TRUE(message.calls.empty());
}

TEST(ReplyParser, ControlTokensThatAreNoMarkersAreNotSpoken) {
  const ReplyMessage message = parse(reply_format("hermes", "think"), {},
                                     {{"Hel", false}, {"<|im_end|>", true}, {"lo", false}});
  EXPECT_EQ(message.content, "Hello");
}

TEST(ReplyParser, HoldsBackOnlyWhatMayBeAMarker) {
  ReplyParser parser(reply_format("hermes", "think"), {});
  EXPECT_EQ(parser.push({.text = "a <"}).content, "a");
  EXPECT_TRUE(parser.push({.text = "th"}).empty());
  EXPECT_EQ(parser.push({.text = "e b"}).content, " <the b");
  EXPECT_TRUE(parser.push({.text = "<tool_cal"}).empty());
  EXPECT_EQ(parser.finish().content, "<tool_cal");
}

TEST(ReplyParser, TellsTheNameBeforeTheArgumentsAreThere) {
  ReplyParser parser(reply_format("hermes", "think"), {});
  EXPECT_TRUE(parser.push({.text = R"(<tool_call>{"name": "get_we)"}).empty());
  ReplyDelta delta = parser.push({.text = R"(ather", )"});
  ASSERT_EQ(delta.calls.size(), 1U);
  EXPECT_EQ(delta.calls[0].name, "get_weather");
  delta = parser.push({.text = R"("arguments": {"city": "Par)"});
  ASSERT_EQ(delta.calls.size(), 1U);
  EXPECT_EQ(delta.calls[0].name, "");
  EXPECT_EQ(delta.calls[0].arguments, R"({"city": "Par)");
}

TEST(ReplyParser, TextOfAParameterIsToldAsItComes) {
  ReplyOptions options;
  options.tools = {
      {.name = "write", .parameters = R"({"properties": {"text": {"type": "string"}}})"}};
  ReplyParser parser(reply_format("qwen3-coder", "think"), options);
  EXPECT_EQ(parser.push({.text = "<tool_call><function=write><parameter=text>\nOne\"\n"})
                .calls.at(0)
                .arguments,
            R"({"text": "One\")");
  EXPECT_EQ(parser.push({.text = "two"}).calls.at(0).arguments, R"(\ntwo)");
}

TEST(ReplyParser, MakesIdsFromTheSeed) {
  const std::string text =
      R"(<tool_call>{"name": "f"}</tool_call><tool_call>{"name": "f"}</tool_call>)";
  const ReplyFormat format = reply_format("hermes", "think");
  ReplyOptions options;
  options.id_seed = 7;
  const ReplyMessage one = parse_text(format, options, text);
  EXPECT_EQ(one, parse_text(format, options, text));
  ASSERT_EQ(one.calls.size(), 2U);
  EXPECT_NE(one.calls[0].id, one.calls[1].id);
  options.id_seed = 8;
  EXPECT_NE(one.calls[1].id, parse_text(format, options, text).calls[1].id);
}

TEST(ReplyParser, MendsBytesThatAreNoText) {
  const ReplyFormat format = reply_format("hermes", "think");
  EXPECT_EQ(parse(format, {}, {{"a\xE2\x82", false}, {"\xAC\xFF", false}, {"\xE2", false}}).content,
            "a\u20AC\uFFFD\uFFFD");
  EXPECT_EQ(parse(format, {}, {{"a\xE2\x82", false}, {"<|x|>", true}, {"\xAC", false}}).content,
            "a\uFFFD\uFFFD");
}

TEST(ReplyParser, EndsWhereBoundsAreReached) {
  const ReplyFormat format = reply_format("hermes", "think");
  const std::string begin = R"(<tool_call>{"name": "f", "arguments": )";
  const ReplyMessage deep = parse_text(format, {}, begin + std::string(100, '{'));
  ASSERT_EQ(deep.calls.size(), 1U);
  EXPECT_FALSE(deep.calls[0].valid);

  const ReplyMessage long_one =
      parse_text(format, {},
                 begin + "{\"a\": \"" + std::string(kMostArgumentBytes, 'x') + "\"}}</tool_call>b");
  ASSERT_EQ(long_one.calls.size(), 1U);
  EXPECT_EQ(long_one.calls[0].arguments.size(), kMostArgumentBytes);
  EXPECT_FALSE(long_one.calls[0].valid);
  EXPECT_EQ(long_one.content, "b");

  std::string many;
  for (size_t i = 0; i < kMostCalls + 3; ++i) {
    many += R"(<tool_call>{"name": "f"}</tool_call>)";
  }
  EXPECT_EQ(parse_text(format, {}, many).calls.size(), kMostCalls);

  const ReplyMessage name =
      parse_text(reply_format("mistral", "think"), {},
                 "[TOOL_CALLS]" + std::string(kMostNameBytes + 1, 'n') + "[ARGS]{}");
  ASSERT_EQ(name.calls.size(), 1U);
  EXPECT_EQ(name.calls[0].name, "");
  EXPECT_FALSE(name.calls[0].valid);
}

TEST(ReplyParser, BoundsAreTheSameInEveryCut) {
  const std::string key(kMostNameBytes + 40, 'k');
  const ReplyFormat gemma = reply_format("gemma4", "gemma4");
  const std::string text = "<|tool_call>call:f{" + key + "<|tool_call>call:f{a:1}<tool_call|>";
  const std::string big(kMostArgumentBytes - 8, 'x');
  Output bytes;
  for (const char byte : text) {
    bytes.emplace_back(std::string(1, byte), false);
  }
  EXPECT_EQ(parse(gemma, {}, bytes), parse_text(gemma, {}, text));
  const ReplyFormat hermes = reply_format("hermes", "think");
  const std::string begin = R"(<tool_call>{"name": "f", "arguments": {"a": ")";
  EXPECT_EQ(parse(hermes, {}, {{begin + big, false}, {"\u20AC", false}, {"a", false}}),
            parse_text(hermes, {}, begin + big + "\u20ACa"));
}

TEST(ReplyParser, BeginsACallThatWasBegunForTheModel) {
  ReplyOptions options;
  options.prompt_end = "<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": ";
  const ReplyMessage message =
      parse_text(reply_format("hermes", "think"), options, "{\"a\": 1}}\n</tool_call>");
  ASSERT_EQ(message.calls.size(), 1U);
  EXPECT_EQ(message.calls[0].name, "f");
  EXPECT_EQ(message.calls[0].arguments, "{\"a\": 1}");
  EXPECT_TRUE(message.calls[0].valid);
  EXPECT_EQ(message.content, "");
}

}  // namespace
}  // namespace mynah
