// The MCP client beside servers over HTTP: Home Assistant's manners, and those that mean no good.
#include <chrono>
#include <csignal>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "talk/tools/mcp/server_tools.h"
#include "talk/tools/secret_file.h"
#include "talk/tools/tool_box.h"
#include "talk_tools/recording_tools.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using std::chrono::milliseconds;
using test::call_of;
using test::SameKey;
using Answer = Confirm::Answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kNoWebSignal = std::signal(SIGPIPE, SIG_IGN);

// A server of http_server.py, which ends with this.
class WebServer {
 public:
  explicit WebServer(const std::string& how, const std::string& token = {}) {
    auto in = Pipe::create();
    auto out = Pipe::create();
    const std::string program = MYNAH_SOURCE_DIR "/tests/talk_tools/servers/http_server.py";
    process_ = *Process::spawn({.program = *find_program("python3"),
                                .arguments = {"-B", program, how, token},
                                .descriptors = {{in->read_end.get(), STDIN_FILENO},
                                                {out->write_end.get(), STDOUT_FILENO},
                                                {STDERR_FILENO, STDERR_FILENO}},
                                .environment = inherited_environment()});
    in_ = std::move(in->write_end);
    out->write_end.reset();
    char byte = 0;
    while (::read(out->read_end.get(), &byte, 1) == 1 && byte != '\n') {
      port_ += byte;
    }
  }

  [[nodiscard]] McpServerEntry entry(const std::string& token = {}) const {
    McpServerEntry entry{.name = "web"};
    entry.address = McpAddress{.url = *parse_url("http://127.0.0.1:" + port_ + "/api/mcp"),
                               .headers = {{"X-Own", "1"}},
                               .token = token};
    entry.marks["*"] = {.changes = false};
    return entry;
  }

 private:
  std::optional<Process> process_;
  UniqueFd in_;
  std::string port_;
};

struct HeldWeb {
  ToolBox box;
  std::vector<std::string> notes;

  explicit HeldWeb(McpServerEntry entry) {
    box.add(std::make_unique<McpServerTools>(std::move(entry)));
    notes = box.refresh({});
  }

  std::string call(const std::string& tool = "act", const ToolRun& run = {}) {
    SameKey no(Answer::No);
    const auto answer = box.call(call_of(tool), ModelPlace::Here, no, run);
    return answer ? answer->text : "ended: " + answer.error().message;
  }
};

TEST(McpHttp, SpeaksWithHomeAssistant) {
  const WebServer server("house", "long-lived");
  EXPECT_THAT(HeldWeb(server.entry("wrong")).notes,
              ElementsAre(HasSubstr("the server answers 401: wanted a token that it knows")));
  McpServerEntry entry = server.entry("long-lived");
  entry.marks = {{"GetLiveContext", {.changes = false}}};
  HeldWeb held(entry);
  EXPECT_THAT(held.notes, IsEmpty());
  const ToolJson tools = held.box.offered(ModelPlace::Here);
  ASSERT_EQ(tools.size(), 3U);
  EXPECT_EQ(tools[0]["function"]["name"], "HassTurnOn");
  EXPECT_EQ(tools[0]["function"]["parameters"]["properties"]["device_class"]["items"]["enum"][0],
            "outlet");
  EXPECT_THAT(held.call("GetLiveContext"), HasSubstr("Kitchen light"));
  EXPECT_THAT(held.call("HassTurnOn"), HasSubstr("the user does not let this run"));
  SameKey yes(Answer::Yes);
  const auto on = held.box.call(call_of("HassTurnOn", R"({"name": "Kitchen light"})"),
                                ModelPlace::Here, yes, {});
  EXPECT_THAT(on->text, HasSubstr("action_done"));
  EXPECT_THAT(yes.questions.at(0).shown, HasSubstr("Kitchen light"));
  const auto off = held.box.call(call_of("HassTurnOff"), ModelPlace::Here, yes, {});
  EXPECT_EQ(off->text, "error: ok") << "what a tool says of its failure is told as one";
}

TEST(McpHttp, ReadsEventsUntilItsAnswerCame) {
  const WebServer server("events");
  HeldWeb held(server.entry());
  EXPECT_EQ(held.call(), "ok") << "the stream itself has no end";
}

TEST(McpHttp, TakesAStreamUpThatBroke) {
  const WebServer server("resumes");
  EXPECT_EQ(HeldWeb(server.entry()).call(), "taken up");
}

TEST(McpHttp, GreetsAgainWhereItWasForgotten) {
  const WebServer server("forgets");
  EXPECT_EQ(HeldWeb(server.entry()).call(), "ok");
}

TEST(McpHttp, HearsThatToolsAreOthers) {
  const WebServer server("listens");
  HeldWeb held(server.entry());
  EXPECT_EQ(held.box.offered(ModelPlace::Here).size(), 1U);
  EXPECT_EQ(held.call(), "ok");
  for (int i = 0; i < 200 && held.box.offered(ModelPlace::Here).size() < 2; ++i) {
    ::usleep(20'000);  // it comes over another connection
    static_cast<void>(held.box.refresh({}));
  }
  EXPECT_EQ(held.box.offered(ModelPlace::Here).size(), 2U);
}

TEST(McpHttp, NeverCallsTwice) {
  const WebServer server("closes");
  HeldWeb held(server.entry());
  EXPECT_THAT(held.call(), HasSubstr("error: "));
  const WebServer counting("counts");
  HeldWeb counted(counting.entry());
  EXPECT_THAT(counted.call(), HasSubstr(R"("calls": 1)"));
}

TEST(McpHttp, TellsWhatAServerIsNot) {
  EXPECT_THAT(HeldWeb(WebServer("page").entry()).notes,
              ElementsAre(HasSubstr("is this the address of an MCP server?")));
  EXPECT_THAT(HeldWeb(WebServer("broken").entry()).notes,
              ElementsAre(HasSubstr("the server answers 500: no room")));
  EXPECT_THAT(HeldWeb(WebServer("endless_error").entry()).notes,
              ElementsAre(HasSubstr("the server answers 500")));
  McpServerEntry nobody{.name = "web"};
  nobody.address = McpAddress{.url = *parse_url("http://127.0.0.1:1/mcp")};
  EXPECT_THAT(HeldWeb(nobody).notes, ElementsAre(HasSubstr("cannot connect")));
}

TEST(McpHttp, EndsWhatHasNoEnd) {
  for (const std::string how : {"flood", "long_line"}) {
    const WebServer server(how);
    EXPECT_THAT(HeldWeb(server.entry()).call(), HasSubstr("longer than")) << how;
  }
  for (const std::string how : {"cut", "dribbles", "silent"}) {
    const WebServer server(how);
    McpServerEntry entry = server.entry();
    entry.patience.call = milliseconds(500);
    entry.address->options.stall_timeout = milliseconds(5000);
    EXPECT_THAT(HeldWeb(entry).call(), HasSubstr("no answer in time")) << how;
  }
}

TEST(McpHttp, EndsACallThatIsStopped) {
  const WebServer server("dribbles");
  HeldWeb held(server.entry());
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  EXPECT_EQ(held.call("act", {.stop = stop.get_token()}), "ended: stopped");
}

TEST(SecretFile, IsForItsUserAlone) {
  const mynah::test::TemporaryFolder folder;
  const std::string path = folder / "token";
  mynah::test::write_file(path, " abc.DEF-123 \n");
  ::chmod(path.c_str(), 0644);
  EXPECT_THAT(read_secret_file(path).error().message, HasSubstr("chmod 600"));
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(*read_secret_file(path), "abc.DEF-123");
  for (const std::string text : {"", "\n", "two words", "a\r\nX-Evil: 1", "caf\xc3\xa9"}) {
    mynah::test::write_file(path, text);
    EXPECT_EQ(read_secret_file(path).error().code, ErrorCode::InvalidInput) << text;
  }
  EXPECT_EQ(read_secret_file(folder / "none").error().code, ErrorCode::NotFound);
  EXPECT_EQ(read_secret_file(std::string(folder / "")).error().code, ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace mynah::talk
