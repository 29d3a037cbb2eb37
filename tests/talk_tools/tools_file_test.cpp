// The file of tools: what it may say, and what is wrong with it.
#include "talk/tools/tools_file.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "talk_tools/recording_tools.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Answer = Confirm::Answer;

// As the program does: a pipe that nobody reads is an error and no signal.
const auto kNoFileSignal = std::signal(SIGPIPE, SIG_IGN);

TEST(ToolsFile, SaysWhatItDoesNotKnow) {
  const auto file = ToolsFile::parse(R"({
    "tool": [], "mcpServers": {"s": {"command": "x", "arg": ["y"]}},
    "tools": [{"name": "clock", "command": "date", "change": false},
              {"type": "function", "function": {"name": "f"}, "leave": true}]})",
                                     "tools.json");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(
      file->notes(),
      ElementsAre(
          "tools.json: nothing is known of \"tool\" (did you mean tools?): it is passed over",
          "tools.json: tool clock: nothing is known of \"change\" (did you mean changes?): it goes "
          "to the model as it stands",
          "tools.json: tool f: nothing is known of \"leave\" (did you mean leaves?): it is passed "
          "over",
          "\"mcpServers\": \"s\": nothing is known of \"arg\" (did you mean args?): it is passed "
          "over"));
}

TEST(ToolsFile, TakesServersAsOtherProgramsHaveThem) {
  const mynah::test::TemporaryFolder folder;
  const std::string token = folder / "token";
  mynah::test::write_file(token, "abc\n");
  ::chmod(token.c_str(), 0600);
  const auto file =
      ToolsFile::parse(R"({
    "mcpServers": {
      "files": {"command": "uvx", "args": ["server", "--root", "/x"], "env": {"A": "1"}, "timeout": 5,
                "autoApprove": ["act"], "tools": {"look": {"changes": false, "leaves": true}}},
      "house": {"type": "http", "url": "http://house.local:8123/api/mcp", "tokenFile": ")" +
                           token +
                           R"(", "headers": {"X-A": "b"}, "offer": ["GetLiveContext"]},
      "off": {"command": "x", "disabled": true}
    },
    "own": ["get_time", "calculate"],
    "tools": [{"name": "clock", "command": "date", "changes": false}]
  })",
                       "tools.json");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->servers().size(), 2U);
  const McpServerEntry& files = file->servers()[0];
  EXPECT_EQ(files.command->command, "uvx");
  EXPECT_THAT(files.command->arguments, ElementsAre("server", "--root", "/x"));
  EXPECT_THAT(files.command->environment, ElementsAre(testing::Pair("A", "1")));
  EXPECT_EQ(files.patience.call, std::chrono::seconds(5));
  EXPECT_EQ(files.marks.size(), 1U) << "what other programs let run asks here";
  EXPECT_EQ(files.marks.at("look").changes, false);
  EXPECT_EQ(files.marks.at("look").may_leave, true);
  const McpServerEntry& house = file->servers()[1];
  EXPECT_EQ(house.address->token, "abc");
  EXPECT_EQ(house.address->url.target, "/api/mcp");
  EXPECT_THAT(house.offered, ElementsAre("GetLiveContext"));
  EXPECT_THAT(file->notes(),
              ElementsAre(HasSubstr("\"files\": nothing is known of \"autoApprove\""),
                          HasSubstr("for all to read")));
  EXPECT_THAT(file->own(), ElementsAre("get_time", "calculate"));
  EXPECT_FALSE(file->described().at(0).facts.changes);
}

TEST(ToolsFile, SaysWhatIsWrong) {
  const auto wrong = [](const std::string& text) {
    const auto file = ToolsFile::parse(text, "tools.json");
    return file ? std::string("nothing") : file.error().message;
  };
  const auto server = [&](const std::string& json) {
    return wrong(R"({"mcpServers": {"s": )" + json + "}}");
  };
  const std::string place = R"(tools.json: "mcpServers": "s": )";
  EXPECT_EQ(server("7"), place + R"(wanted an object with "command" or "url")");
  EXPECT_THAT(server("{}"), HasSubstr(R"(wanted one of "command" and "url")"));
  EXPECT_THAT(server(R"({"command": "a", "url": "http://b"})"), HasSubstr("wanted one of"));
  EXPECT_THAT(server(R"({"command": "a", "args": "b"})"), HasSubstr("wanted a list of texts"));
  EXPECT_THAT(server(R"({"command": "a", "env": {"A": 1}})"),
              HasSubstr("wanted an object of texts"));
  EXPECT_THAT(server(R"({"url": "ftp://x"})"), HasSubstr(place));
  EXPECT_THAT(server(R"({"url": "http://x", "type": "sse"})"), HasSubstr("not spoken here"));
  EXPECT_THAT(server(R"({"url": "http://x", "headers": {"A": "b\r\nC: d"}})"),
              HasSubstr("control characters"));
  EXPECT_THAT(server(R"({"url": "http://x", "tokenFile": "/no/such/file"})"),
              HasSubstr("/no/such/file"));
  EXPECT_THAT(server(R"({"command": "a", "tools": {"t": {"change": false}}})"),
              HasSubstr(R"("tools": "t": wanted "changes" or "leaves")"));
  EXPECT_THAT(server(R"({"command": "a", "tools": {"t": {"changes": "no"}}})"),
              HasSubstr("true or false"));
  EXPECT_THAT(server(R"({"command": "a", "timeout": 0})"), HasSubstr("seconds from 1"));
  EXPECT_EQ(wrong(R"({"own": ["get_tme"]})"),
            R"(tools.json: "own": there is no tool 'get_tme' (did you mean get_time?))");
  EXPECT_THAT(wrong(R"([{"name": "a", "changes": "no"}])"), HasSubstr("wanted true or false"));
}

TEST(OpenTools, OffersWhatTheFileSays) {
  const mynah::test::TemporaryFolder folder;
  const auto file = ToolsFile::parse(
      R"({"own": true, "tools": [{"name": "clock", "command": "echo it is; cat", "changes": false},
          {"name": "rm", "command": ["false"]}, {"name": "asked"}]})",
      "tools.json");
  ASSERT_TRUE(file) << file.error().message;
  auto opened = open_tools(*file, {.timers = folder / "timers.sqlite", .folder = folder / ""});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_NE(opened->timers, nullptr);
  EXPECT_EQ(opened->box.offered(ModelPlace::Here).size(), 10U)
      << "six of mynah's, two of files, two commands: nobody answers the third";
  test::SameKey no(Answer::No);
  const auto clock =
      opened->box.call(test::call_of("clock", R"({"a": 1})"), ModelPlace::Here, no, {});
  EXPECT_EQ(clock->text, "it is\n{\"a\":1}");
  EXPECT_FALSE(opened->box.call(test::call_of("rm"), ModelPlace::Here, no, {})->ran);
  test::SameKey yes(Answer::Yes);
  EXPECT_THAT(opened->box.call(test::call_of("rm"), ModelPlace::Here, yes, {})->text,
              HasSubstr("[the command ended with exit code 1]"));
  EXPECT_EQ(yes.questions.at(0).shown, "`false`");
}

}  // namespace
}  // namespace mynah::talk
