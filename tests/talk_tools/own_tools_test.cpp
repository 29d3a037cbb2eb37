// The tools that mynah brings: the clock, timers and alarms, files below a folder.
#include "talk/tools/own_tools.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using std::chrono::seconds;

constexpr SystemSeconds kNow{seconds(1'796'064'697)};  // 2026-11-30 18:51:37 UTC

std::string said(Tool& tool, const ToolJson& arguments, size_t most_bytes = kMostAnswerBytes) {
  const auto answer =
      tool.run(arguments, {.stop = {}, .most_bytes = most_bytes, .on_progress = {}});
  return answer ? *answer : "refused: " + answer.error().message;
}

TEST(ClockTool, TellsTheTimeOfAPlace) {
  const auto clock = make_clock_tool([] { return kNow; });
  EXPECT_FALSE(clock->facts().changes);
  EXPECT_EQ(said(*clock, {{"zone", "Europe/Berlin"}}),
            "2026-11-30 19:51:37, Monday, Europe/Berlin (CET, UTC+01:00)");
  EXPECT_EQ(said(*clock, {{"zone", "tokyo"}}),
            "2026-12-01 03:51:37, Tuesday, Asia/Tokyo (JST, UTC+09:00)");
  EXPECT_EQ(said(*clock, {{"zone", "new york"}}),
            "2026-11-30 13:51:37, Monday, America/New_York (EST, UTC-05:00)");
  EXPECT_TRUE(said(*clock, {{"zone", "Europe/Berlun"}}).ends_with("(did you mean Europe/Berlin?)"))
      << said(*clock, {{"zone", "Europe/Berlun"}});
  EXPECT_TRUE(said(*clock, {{"zone", 7}}).starts_with("refused"));
  EXPECT_TRUE(said(*clock, {{"zone", "../../etc/passwd"}}).starts_with("refused"));
}

TEST(NextTime, IsTheNextOneThatClocksShow) {
  const auto at = [](const std::string& written, const std::string& zone) {
    const auto time = next_time(written, zone, kNow);
    return time ? *time_in_zone(*time, zone) : "refused: " + time.error().message;
  };
  EXPECT_EQ(at("07:30", "Europe/Berlin"),
            "2026-12-01 07:30:00, Tuesday, Europe/Berlin (CET, UTC+01:00)");
  EXPECT_EQ(at("20:00", "Europe/Berlin"),
            "2026-11-30 20:00:00, Monday, Europe/Berlin (CET, UTC+01:00)");
  EXPECT_EQ(at("2026-12-24 18:00", "Asia/Tokyo"),
            "2026-12-24 18:00:00, Thursday, Asia/Tokyo (JST, UTC+09:00)");
  // The clock goes from 02:00 to 03:00 on that day, and from 03:00 back to 02:00 on the other.
  EXPECT_EQ(at("2027-03-28 02:30", "Europe/Berlin"),
            "2027-03-28 03:00:00, Sunday, Europe/Berlin (CEST, UTC+02:00)");
  EXPECT_EQ(at("2027-10-31 02:30", "Europe/Berlin"),
            "2027-10-31 02:30:00, Sunday, Europe/Berlin (CEST, UTC+02:00)");
  for (const std::string written : {"", "7", "25:00", "07:60", "2026-02-30 10:00", "tomorrow",
                                    "2020-01-01 10:00", "-1:30", "07:3", "2026-12-24T18:00Z"}) {
    EXPECT_TRUE(at(written, "Etc/UTC").starts_with("refused")) << written;
  }
}

class TimerTools : public testing::Test {
 protected:
  void SetUp() override { start(); }

  // As a program that was started again.
  void start() {
    tools_.clear();
    timers_.reset();
    auto opened = Timers::open(folder_ / "timers.sqlite");
    ASSERT_TRUE(opened) << opened.error().message;
    timers_ = *opened;
    tools_ = make_timer_tools(timers_, [this] { return now_; });
  }

  std::string call(const std::string& name, const ToolJson& arguments) {
    for (const auto& tool : tools_) {
      if (tool->facts().name == name) {
        return said(*tool, arguments);
      }
    }
    return "no such tool";
  }

  mynah::test::TemporaryFolder folder_;
  SystemSeconds now_ = kNow;
  std::shared_ptr<Timers> timers_;
  std::vector<std::shared_ptr<Tool>> tools_;
};

TEST_F(TimerTools, SurviveARestart) {
  EXPECT_EQ(call("set_timer", {{"minutes", 5}, {"label", "tea"}}),
            "timer 1 (tea) is over in 0:05:00");
  EXPECT_EQ(call("set_alarm", {{"time", "07:30"}, {"zone", "berlin"}}),
            "alarm 2 at 2026-12-01 07:30:00, Tuesday, Europe/Berlin (CET, UTC+01:00)");
  now_ += seconds(61);
  start();
  EXPECT_EQ(call("list_timers", ToolJson::object()),
            "timer 1 (tea) is over in 0:03:59\n"
            "alarm 2 at 2026-12-01 07:30:00, Tuesday, Europe/Berlin (CET, UTC+01:00)\n");
  ASSERT_TRUE(timers_->due(now_));
  EXPECT_TRUE(timers_->due(now_)->empty());
  now_ += seconds(239);
  const auto due = timers_->due(now_);
  ASSERT_TRUE(due);
  ASSERT_EQ(due->size(), 1U);
  EXPECT_EQ(ring_text(due->front(), now_), "timer 1 (tea) is over");
  EXPECT_EQ(timers_->due(now_)->size(), 1U) << "until it is said to have rung";
  EXPECT_EQ(ring_text(due->front(), now_ + seconds(3600)),
            "timer 1 (tea) was missed: it was due at 2026-11-30 18:56:37, Monday, Etc/UTC (UTC, "
            "UTC+00:00)");
  EXPECT_TRUE(*timers_->remove(1));
  EXPECT_FALSE(*timers_->remove(1));
  EXPECT_EQ(call("cancel_timer", {{"id", 2}}), "2 is cancelled");
  EXPECT_EQ(call("list_timers", ToolJson::object()), "there are none");
}

TEST_F(TimerTools, AreForTheirUserAlone) {
  struct stat about{};
  ASSERT_EQ(::stat(std::string(folder_ / "timers.sqlite").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(TimerTools, RefuseWhatIsNoTime) {
  for (const ToolJson& arguments :
       {ToolJson::object(), ToolJson{{"minutes", 0}}, ToolJson{{"minutes", -5}},
        ToolJson{{"hours", 1e300}}, ToolJson{{"seconds", "ten"}}, ToolJson{{"hours", 24 * 400}},
        ToolJson{{"minutes", 1}, {"label", std::string(201, 'x')}}, ToolJson{{"label", "tea"}}}) {
    EXPECT_TRUE(call("set_timer", arguments).starts_with("refused")) << arguments;
  }
  EXPECT_TRUE(call("cancel_timer", {{"id", "1 OR 1=1"}}).starts_with("refused"));
  EXPECT_TRUE(call("cancel_timer", {{"id", 9}}).starts_with("refused"));
  for (size_t i = 0; i < kMostTimers; ++i) {
    EXPECT_TRUE(call("set_timer", {{"hours", 1}}).starts_with("timer"));
  }
  EXPECT_TRUE(call("set_timer", {{"hours", 1}}).starts_with("refused: there are 64"));
}

class FileTools : public testing::Test {
 protected:
  void SetUp() override {
    root_ = folder_ / "shelf";
    mynah::test::write_file(root_ + "/notes/todo.txt", "milk\nbread\n");
    mynah::test::write_file(root_ + "/readme.txt", "hello\n");
    mynah::test::write_file(folder_ / "secret.txt", "a secret\n");
    auto made = make_file_tools(root_);
    ASSERT_TRUE(made) << made.error().message;
    list_ = (*made)[0];
    read_ = (*made)[1];
  }

  std::string read(const std::string& path) { return said(*read_, {{"path", path}}); }

  mynah::test::TemporaryFolder folder_;
  std::string root_;
  std::shared_ptr<Tool> list_;
  std::shared_ptr<Tool> read_;
};

TEST_F(FileTools, ListAndRead) {
  EXPECT_FALSE(read_->facts().changes);
  EXPECT_FALSE(read_->facts().may_leave) << "files are the user's own";
  EXPECT_EQ(said(*list_, ToolJson::object()), "notes/\nreadme.txt (6 bytes)\n");
  EXPECT_EQ(said(*list_, {{"folder", "notes"}}), "todo.txt (11 bytes)\n");
  EXPECT_EQ(read("notes/todo.txt"), "milk\nbread\n");
  EXPECT_EQ(said(*read_, {{"path", "notes/todo.txt"}, {"from_line", 2}}), "bread\n");
  EXPECT_EQ(read("notes/../readme.txt"), "hello\n") << "it stays below";
}

TEST_F(FileTools, StayBelowTheirFolder) {
  std::filesystem::create_symlink("notes/todo.txt", root_ + "/inside");
  std::filesystem::create_symlink("../secret.txt", root_ + "/outside");
  std::filesystem::create_symlink(std::string(folder_ / "secret.txt"), root_ + "/absolute");
  std::filesystem::create_directory_symlink("..", root_ + "/up");
  std::filesystem::create_symlink("loop", root_ + "/loop");
  EXPECT_EQ(read("inside"), "milk\nbread\n");
  for (const std::string path :
       {"outside", "absolute", "up/secret.txt", "../secret.txt", "/etc/hostname",
        "notes/../../secret.txt", "loop", "/proc/self/environ", "up", "..", ".", "nothing",
        "readme.txt/x"}) {
    const std::string answer = read(path);
    EXPECT_TRUE(answer.starts_with("refused")) << path << ": " << answer;
    EXPECT_EQ(answer.find("a secret"), std::string::npos) << path;
  }
  EXPECT_TRUE(said(*list_, {{"folder", "up"}}).starts_with("refused"));
  EXPECT_TRUE(said(*list_, {{"folder", ".."}}).starts_with("refused"));
  EXPECT_TRUE(read(std::string("readme.txt\0x", 12)).starts_with("refused"));
  EXPECT_NE(said(*list_, ToolJson::object()).find("outside (a link)"), std::string::npos);
}

TEST_F(FileTools, ReadTextAlone) {
  mynah::test::write_file(root_ + "/binary", std::string("a\0b", 3));
  mynah::test::write_file(root_ + "/latin1", "caf\xe9\n");
  mynah::test::write_file(root_ + "/most", std::string(kMostFileBytes, 'x'));
  mynah::test::write_file(root_ + "/more", std::string(kMostFileBytes + 1, 'x'));
  ASSERT_EQ(::mkfifo((root_ + "/fifo").c_str(), 0600), 0);
  for (const std::string path : {"binary", "latin1", "more", "fifo", "notes"}) {
    EXPECT_TRUE(read(path).starts_with("refused")) << path;
  }
  EXPECT_EQ(read("most").size(), kMostFileBytes);
  EXPECT_EQ(said(*list_, ToolJson::object()).find("fifo"), std::string::npos);
}

TEST_F(FileTools, GoOnWhereAnAnswerWasCut) {
  std::string text;
  for (int i = 1; i <= 500; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  mynah::test::write_file(root_ + "/long.txt", text);
  constexpr size_t kMost = 1000;
  std::string whole;
  int64_t line = 1;
  for (int i = 0; i < 20; ++i) {
    const std::string part = said(*read_, {{"path", "long.txt"}, {"from_line", line}}, kMost);
    EXPECT_LE(part.size(), kMost);
    const std::string mark = "[cut here: read on from line ";
    const size_t cut = part.find(mark);
    whole += part.substr(0, cut);
    if (cut == std::string::npos) {
      break;
    }
    line = std::stoll(part.substr(cut + mark.size()));
  }
  EXPECT_EQ(whole, text);
}

}  // namespace
}  // namespace mynah::talk
