// What is told of a reply that is written faster than it is taken.
#include "chat/reply_stream.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "chat/chat_prompt.h"
#include "chat/tiny_language.h"
#include "formats/open.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

TEST(ReplyStream, WhatIsCutWithinACharacterEndsBeforeIt) {
  const test::TemporaryFolder folder;
  const auto file = open_tensor_file(test::write_tiny_language(folder / "tiny.gguf"));
  ASSERT_TRUE(file);
  const auto prompt = ChatPrompt::read(*file);
  ASSERT_TRUE(prompt) << prompt.error().message;
  ReplyStream stream(prompt->tokenizer(), prompt->format(), {}, {}, false);
  for (const char byte : std::string_view("Hi \xF0\x9F\x8C")) {  // three bytes of a star's four
    EXPECT_TRUE(stream.push(
        {.token = static_cast<unsigned char>(byte), .log_probability = 0, .alternatives = {}}));
  }
  Generated cut;
  cut.end = TextEnd::Length;
  stream.finish(cut);
  std::string content;
  while (const auto delta = stream.take()) {
    content += delta->said.content;
  }
  EXPECT_EQ(content, "Hi ");
  EXPECT_EQ(stream.reply()->message.content, "Hi ");
}

TEST(ReplyStream, CallsAreToldOneAtATimeBehindTheText) {
  const test::TemporaryFolder folder;
  const auto file = open_tensor_file(test::write_tiny_language(folder / "tiny.gguf"));
  ASSERT_TRUE(file);
  const auto prompt = ChatPrompt::read(*file);
  ASSERT_TRUE(prompt) << prompt.error().message;
  const ReplyOptions options{
      .control_markers = std::make_shared<Spellings>(Spellings{"<tool_call>", "</tool_call>"}),
      .prompt_end = {},
      .tools = {{.name = "f", .parameters = "{}"}},
      .id_seed = 0};
  ReplyStream stream(prompt->tokenizer(), prompt->format(), options, {}, false);
  constexpr int32_t kCallBegin = 260;  // of tiny_language.h, whose first tokens are bytes
  constexpr int32_t kCallEnd = 261;
  const auto push = [&stream](int32_t token) {
    EXPECT_TRUE(stream.push({.token = token, .log_probability = 0, .alternatives = {}}));
  };
  const auto push_text = [&push](std::string_view text) {
    for (const char byte : text) {
      push(static_cast<unsigned char>(byte));
    }
  };
  push_text("Hi.");
  for (const char* const argument : {"1", "2", "3"}) {
    push(kCallBegin);
    push_text(std::string(R"({"name": "f", "arguments": {"a": )") + argument + "}}");
    push(kCallEnd);
  }
  stream.finish(Generated());
  std::string content;
  std::vector<std::string> arguments;
  while (const auto delta = stream.take()) {
    content += delta->said.content;
    ASSERT_LE(delta->said.calls.size(), 1U);
    EXPECT_TRUE(delta->said.content.empty() || delta->said.calls.empty());
    for (const CallDelta& call : delta->said.calls) {
      EXPECT_EQ(call.index, arguments.size());
      EXPECT_EQ(call.name, "f");
      arguments.push_back(call.arguments);
    }
  }
  EXPECT_EQ(content, "Hi.");
  EXPECT_EQ(arguments, (std::vector<std::string>{R"({"a": 1})", R"({"a": 2})", R"({"a": 3})"}));
}

}  // namespace
}  // namespace mynah
