// The MCP client beside servers on pipes that mean no good.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "talk/tools/mcp/server_tools.h"
#include "talk/tools/tool_box.h"
#include "talk_tools/recording_tools.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using std::chrono::milliseconds;
using test::call_of;
using test::SameKey;
using Answer = Confirm::Answer;

// As the program does: a pipe that nobody reads is an error and no signal.
const auto kNoSignal = std::signal(SIGPIPE, SIG_IGN);

McpServerEntry hostile(const std::string& how, const std::string& more = {}) {
  McpServerEntry entry{.name = how};
  entry.command = McpCommand{
      .command = "python3",
      .arguments = {"-B", MYNAH_SOURCE_DIR "/tests/talk_tools/servers/hostile_server.py", how}};
  if (!more.empty()) {
    entry.command->arguments.push_back(more);
  }
  entry.marks["*"] = {.changes = false};
  return entry;
}

struct Held {
  ToolBox box;
  std::vector<std::string> notes;

  explicit Held(McpServerEntry entry) {
    box.add(std::make_unique<McpServerTools>(std::move(entry)));
    notes = box.refresh({});
  }

  CallAnswer call(ToolRun run = {}, const std::string& tool = "act") {
    SameKey no(Answer::No);
    const auto answer = box.call(call_of(tool), ModelPlace::Here, no, run);
    return answer ? *answer : CallAnswer{.text = "ended: " + answer.error().message};
  }
};

TEST(McpChild, AnswersAndSpeaksOlderRevisions) {
  Held held(hostile("first_revision"));
  EXPECT_THAT(held.notes, testing::IsEmpty());
  EXPECT_EQ(held.call().text, "ok");
}

TEST(McpChild, TellsWhyAServerIsNotThere) {
  EXPECT_THAT(Held(hostile("ends")).notes,
              testing::ElementsAre(testing::HasSubstr("MCP server ends: the server ended; it said: "
                                                      "no configuration")));
  EXPECT_THAT(Held(hostile("old")).notes,
              testing::ElementsAre(testing::HasSubstr("speaks revision '1999-01-01'")));
  EXPECT_THAT(Held(hostile("no_list")).notes,
              testing::ElementsAre(testing::HasSubstr("the server's list of tools is none")));
  McpServerEntry silent = hostile("never_answers");
  silent.patience.greeting = milliseconds(300);
  EXPECT_THAT(Held(silent).notes, testing::ElementsAre(testing::HasSubstr("no answer in time")));
  McpServerEntry deaf = hostile("never_reads");
  deaf.patience.greeting = milliseconds(300);
  EXPECT_THAT(Held(deaf).notes, testing::ElementsAre(testing::HasSubstr("no answer in time")));
  McpServerEntry gone = hostile("ends");
  gone.command->command = "no-such-program-of-mynah";
  EXPECT_THAT(Held(gone).notes, testing::ElementsAre(testing::HasSubstr("there is no program")));
}

TEST(McpChild, BoundsLists) {
  const Held forever(hostile("pages_forever"));
  EXPECT_THAT(forever.notes, testing::ElementsAre(testing::HasSubstr("more than 64 pages")));
  EXPECT_EQ(forever.box.offered(ModelPlace::Here).size(), kMostMcpPages);
  const Held many(hostile("many_tools"));
  EXPECT_EQ(many.box.offered(ModelPlace::Here).size(), kMostMcpTools);
  const Held odd(hostile("odd_tools"));
  const ToolJson tools = odd.box.offered(ModelPlace::Here);
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0]["function"]["parameters"], ToolJson({{"type", "object"}}));
  EXPECT_LT(tools[1]["function"]["description"].get<std::string>().size(), 5000U);
}

TEST(McpChild, ListensToItsOwnAnswerAlone) {
  EXPECT_EQ(Held(hostile("wrong_ids")).call().text, "right");
  EXPECT_EQ(Held(hostile("rubbish")).call().text, "survived");
  EXPECT_THAT(Held(hostile("refuses")).call().text,
              testing::HasSubstr("the server refuses (-32602): no such"));
  EXPECT_THAT(Held(hostile("odd_error")).call().text, testing::HasSubstr("the server refuses (0)"));
}

TEST(McpChild, AnswersWhatItsServerAsks) {
  const std::string got = Held(hostile("asks")).call().text;
  EXPECT_THAT(got, testing::HasSubstr(R"({"jsonrpc":"2.0","id":"s1","result":{}})"));
  EXPECT_THAT(got, testing::HasSubstr("-32601"));
}

TEST(McpChild, EndsWhatHasNoEnd) {
  EXPECT_THAT(Held(hostile("huge")).call().text, testing::HasSubstr("a message of more than"));
  EXPECT_THAT(Held(hostile("endless")).call().text, testing::HasSubstr("that nobody asked for"));
  McpServerEntry slow = hostile("progress_forever");
  slow.patience.call = milliseconds(200);
  slow.patience.longest = milliseconds(600);
  int told = 0;
  EXPECT_THAT(Held(slow).call({.on_progress = [&](std::string_view) { ++told; }}).text,
              testing::HasSubstr("no answer in time"));
  EXPECT_GT(told, 0);
}

TEST(McpChild, TellsOnlyWhatHasRoomAndWords) {
  const std::string cut = Held(hostile("long")).call({.most_bytes = 1001}).text;
  EXPECT_LT(cut.size(), 1200U);
  EXPECT_THAT(cut, testing::HasSubstr("[cut here: 1000 of 2000000 bytes are shown]"));
  EXPECT_EQ(Held(hostile("parts")).call().text,
            "one\n[a picture that cannot be told in words: image/png, 6 bytes]\n[a link: log "
            "file:///log]\ntwo\n[something that cannot be told in words: odd]\n[something that "
            "cannot be told in words: of no type]\n");
  EXPECT_EQ(Held(hostile("structured")).call().text, R"({"warm":true})");
}

TEST(McpChild, IsStartedAgainAFewTimes) {
  Held held(hostile("dies"));
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(held.call().text, testing::HasSubstr("out of memory")) << i;
    const auto notes = held.box.refresh({});
    ASSERT_THAT(notes, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(notes[0], testing::HasSubstr("out of memory"));
  }
  EXPECT_TRUE(held.box.offered(ModelPlace::Here).empty());
  EXPECT_THAT(held.box.refresh({}), testing::IsEmpty()) << "it is told once";
}

TEST(McpChild, IsNotBelievedAboutItself) {
  McpServerEntry entry = hostile("plain");
  entry.marks.clear();
  Held held(entry);
  EXPECT_THAT(held.call().text, testing::HasSubstr("the user does not let this run"))
      << "readOnlyHint is a hint";
}

TEST(McpChild, LosesItsMarksWhereItBecomesAnother) {
  Held held(hostile("changes"));
  EXPECT_EQ(held.call().text, "fine");
  EXPECT_THAT(held.box.refresh({}),
              testing::ElementsAre(testing::HasSubstr("act is not what it was")));
  EXPECT_THAT(held.call().text, testing::HasSubstr("the user does not let this run"));
}

TEST(McpChild, GetsNoTokensOfTheEnvironment) {
  ::setenv("SECRET_TOKEN_OF_OTHERS", "hunter2",
           1);  // NOLINT(concurrency-mt-unsafe): before any thread
  McpServerEntry entry = hostile("environment");
  entry.command->environment = {{"OWN", "given"}};
  const std::string told = Held(entry).call().text;
  EXPECT_THAT(told, testing::HasSubstr("PATH="));
  EXPECT_THAT(told, testing::HasSubstr("OWN=given"));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("hunter2")));
}

TEST(McpChild, TakesItsOwnChildrenAlong) {
  const mynah::test::TemporaryFolder folder;
  const std::string number = folder / "pid";
  {
    const Held held(hostile("grandchild", number));
  }
  const int pid = std::stoi(mynah::test::read_file(number));
  // Whoever adopts it may reap it late: it is dead, or a zombie, as soon as a processor has time.
  const auto ends = [stat = "/proc/" + std::to_string(pid) + "/stat"] {
    const std::string state = mynah::test::read_file(stat);
    return state.empty() || state.find(") Z") != std::string::npos;
  };
  constexpr std::chrono::seconds kHangs{60};
  const auto given_up = std::chrono::steady_clock::now() + kHangs;
  while (!ends() && std::chrono::steady_clock::now() < given_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(ends());
}

TEST(McpChild, EndsACallThatIsStopped) {
  McpServerEntry entry = hostile("progress_forever");
  Held held(entry);
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  EXPECT_EQ(held.call({.stop = stop.get_token()}).text, "ended: stopped");
}

}  // namespace
}  // namespace mynah::talk
