#include "doctor/watch/watch.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "doctor/watch/code_places.h"
#include "doctor/watch/idle.h"
#include "doctor/watch/process_view.h"
#include "doctor/watch/sockets.h"
#include "doctor/watch/watch_words.h"

namespace mynah::doctor {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

struct Tried {
  Watched watched;
  std::string out;
  std::string err;
};

Tried tried(const std::string& program, std::vector<std::string> arguments, int limit_ms = 20'000,
            std::stop_token stop = {}) {
  Tried result;
  const WatchRequest request{.command = {.program = program,
                                         .arguments = std::move(arguments),
                                         .environment = inherited_environment()},
                             .limit = std::chrono::milliseconds(limit_ms),
                             .out = [&](std::string_view text) { return result.out += text, true; },
                             .err = [&](std::string_view text) { return result.err += text, true; },
                             .stop = std::move(stop)};
  auto watched = watch(request);
  EXPECT_TRUE(watched) << (watched ? "" : watched.error().message);
  if (watched) {
    result.watched = *std::move(watched);
  }
  return result;
}

Tried tried(const std::string& what, int limit_ms = 20'000) {
  return tried(MYNAH_TRIED, {what}, limit_ms);
}

std::string words(const Watched& watched) {
  std::string text;
  for (const std::string& line : watched_lines(watched)) {
    text += line + "\n";
  }
  return text;
}

bool runs(pid_t process) {
  const auto view = view_thread(process, process);
  return view && view->state != 'Z' && view->state != 'X';
}

// The first thread, or one without a place.
ThreadPlace first(const Watched& watched) {
  return watched.threads.empty() ? ThreadPlace() : watched.threads.front();
}

std::vector<std::string> symbols_of(const std::vector<CodePlace>& places) {
  std::vector<std::string> symbols;
  symbols.reserve(places.size());
  for (const CodePlace& place : places) {
    symbols.push_back(place.symbol);
  }
  return symbols;
}

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tried("echo").watched.traced) {
      GTEST_SKIP() << "nobody may trace here";
    }
  }
};

TEST_F(WatchTest, SaysHowACommandExited) {
  const Tried error = tried("error");
  EXPECT_EQ(error.watched.end, WatchEnd::Exited);
  EXPECT_EQ(error.watched.exit_code, 3);
  EXPECT_EQ(error.watched.errors, error.err);
  EXPECT_THAT(error.err, HasSubstr("no kernel image"));
  EXPECT_THAT(words(error.watched), HasSubstr("exited 3 after "));
}

TEST_F(WatchTest, ACommandOfAMomentHasItsTimes) {
  const Watched moment =
      tried("/bin/sh", {"-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}).watched;
  EXPECT_EQ(moment.end, WatchEnd::Exited);
  EXPECT_GT(moment.processor_s, 0);
  EXPECT_LE(moment.quiet_s, moment.seconds);
  Watched known;
  known.seconds = 0.0194912;
  known.processor_s = 0.0123456;
  EXPECT_THAT(words(known), HasSubstr("exited 0 after 0.02 s"));
  EXPECT_EQ(watched_json(known)["seconds"], 0.019);
  EXPECT_EQ(watched_json(known)["processor_seconds"], 0.012);
}

TEST_F(WatchTest, CtrlCAndAReaderThatWentAwayAreNoCrashes) {
  const Watched interrupted = tried("/bin/sh", {"-c", "kill -INT $$"}).watched;
  EXPECT_EQ(interrupted.end, WatchEnd::Stopped);
  EXPECT_THAT(words(interrupted), HasSubstr("by Ctrl-C (SIGINT)"));
  const WatchRequest request{.command = {.program = "/bin/sh",
                                         .arguments = {"-c", "while echo y; do :; done"},
                                         .environment = inherited_environment()},
                             .limit = std::chrono::milliseconds(20'000),
                             .out = [](std::string_view) { return false; },
                             .err = [](std::string_view) { return true; },
                             .stop = {}};
  const auto unread = watch(request);
  ASSERT_TRUE(unread);
  EXPECT_EQ(unread->end, WatchEnd::Stopped);
  EXPECT_EQ(unread->signal, SIGPIPE);
  EXPECT_THAT(words(*unread), HasSubstr("nobody reads its output any more"));
}

TEST_F(WatchTest, LetsThreadsComeAndGo) {
  const Tried threads = tried("threads");
  EXPECT_EQ(threads.watched.end, WatchEnd::Exited);
  EXPECT_EQ(threads.watched.exit_code, 0);
  EXPECT_EQ(threads.out, "done\n");
}

TEST_F(WatchTest, SaysInWhichLibrarysFunctionItWaits) {
  const Tried hang = tried("wait", 1500);
  EXPECT_EQ(hang.watched.end, WatchEnd::Waits);
  EXPECT_EQ(end_name(hang.watched.end), "hangs");
  EXPECT_GE(hang.watched.seconds, 1.5);
  EXPECT_LT(hang.watched.seconds, 15);
  ASSERT_EQ(hang.watched.threads.size(), 1U);
  const ThreadPlace thread = first(hang.watched);
  EXPECT_EQ(thread.state, 'S');
  EXPECT_THAT(thread.system_call, HasSubstr("read on pipe:["));
  EXPECT_THAT(thread.at.library, HasSubstr("libc"));
  EXPECT_THAT(symbols_of(thread.callers), AllOf(::testing::Contains("tried_wait"),
                                                ::testing::Contains("tried_load_then_wait")));
  EXPECT_THAT(words(hang.watched),
              AllOf(HasSubstr("hangs: after"),
                    HasSubstr("called, by its stack, from libtried.so, in tried_wait")));
}

// A server that nobody asks is well.
TEST_F(WatchTest, OneThatWaitsForConnectionsServes) {
  for (const char* how : {"accept", "poll", "select", "epoll"}) {
    const Tried server = tried(MYNAH_TRIED, {"serve", how}, 1500);
    EXPECT_EQ(server.watched.end, WatchEnd::Serves) << how << ": " << words(server.watched);
    ASSERT_EQ(server.watched.waits_on.size(), 1U) << how;
    EXPECT_THAT(server.watched.waits_on.front(), ::testing::StartsWith("127.0.0.1:"));
    EXPECT_THAT(words(server.watched), HasSubstr("waits for connections on 127.0.0.1:"));
    EXPECT_FALSE(server.watched.threads.empty()) << how;
  }
  EXPECT_EQ(watched_json(tried(MYNAH_TRIED, {"serve", "poll"}, 1500).watched)["end"], "serves");
}

TEST_F(WatchTest, OneThatReadsItsInputAsks) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const int kept = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const Tried asks = tried("echo", 1500);
  const Tried hangs = tried("wait", 1500);
  ::dup2(kept, STDIN_FILENO);
  for (const int fd : {ends[0], ends[1], kept}) {
    ::close(fd);
  }
  EXPECT_EQ(asks.watched.end, WatchEnd::Asks) << words(asks.watched);
  EXPECT_THAT(words(asks.watched), HasSubstr("waits for its standard input (pipe:["));
  EXPECT_EQ(hangs.watched.end, WatchEnd::Waits) << "another pipe is not its input";
}

// As a thread's files would show it, without such a driver.
TEST(WhyIdle, AWaitInADriverOrForALibraryOfCardsIsAHang) {
  Watched watched;
  ThreadPlace& first = watched.threads.emplace_back();
  first.process = first.thread = ::getpid();
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(listener, 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  first.system_call = "poll";
  first.waits_for = {listener};
  ASSERT_TRUE(why_idle(watched));
  EXPECT_EQ(why_idle(watched)->end, WatchEnd::Serves);
  ThreadPlace& second = watched.threads.emplace_back();
  second.process = ::getpid();
  second.thread = second.process + 1;
  second.system_call = "futex";
  second.callers = {
      {.library = "/usr/lib/libtorch_cuda.so", .symbol = "", .offset = 0, .inside = false}};
  EXPECT_TRUE(why_idle(watched)) << "a thread of a pool";
  std::swap(watched.threads[0].thread, watched.threads[1].thread);
  EXPECT_FALSE(why_idle(watched)) << "the first thread waits in a library of cards";
  std::swap(watched.threads[0].thread, watched.threads[1].thread);
  second.system_call = "ioctl on /dev/nvidia0";
  EXPECT_FALSE(why_idle(watched));
  second.system_call = "read on /dev/x";
  second.state = 'D';
  EXPECT_FALSE(why_idle(watched));
  ::close(listener);
}

TEST(Sockets, AreReadByInode) {
  const Sockets tcp = parse_tcp_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "12 1 0000000000000000 100 0 0 10 0\n"
      "   1: 0100007F:C350 0101A8C0:01BB 01 00000000:00000000 00:00000000 00000000     0        0 "
      "13 1 0000000000000000 100 0 0 10 0\n"
      "   2: 0100007F:1F90 junk 0A\n",
      false);
  ASSERT_EQ(tcp.size(), 2U);
  EXPECT_TRUE(tcp.at(12).listens);
  EXPECT_EQ(tcp.at(12).local, "127.0.0.1:8080");
  EXPECT_EQ(file_words("socket:[13]", tcp), "a TCP connection to 192.168.1.1:443");
  EXPECT_EQ(file_words("socket:[99]", tcp), "socket:[99]");
  EXPECT_EQ(file_words("pipe:[12]", tcp), "pipe:[12]");
  const Sockets six = parse_tcp_sockets(
      "   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000 0 0 7 1\n",
      true);
  EXPECT_EQ(six.at(7).local, "[::1]:80");
  const Sockets local = parse_unix_sockets(
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/x.sock\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 22\n");
  EXPECT_TRUE(local.at(21).listens);
  EXPECT_EQ(local.at(21).local, "/run/x.sock");
  EXPECT_FALSE(local.at(22).listens);
}

TEST_F(WatchTest, TellsALoopThatWaitsForAWord) {
  const Tried hang = tried("spin", 1500);
  EXPECT_EQ(hang.watched.end, WatchEnd::Spins) << words(hang.watched);
  const ThreadPlace thread = first(hang.watched);
  EXPECT_THAT(thread.at.library, EndsWith("libtried.so"));
  EXPECT_EQ(thread.at.symbol, "tried_spin");
  EXPECT_TRUE(thread.at.inside);
  EXPECT_GE(thread.looks, 10);
  EXPECT_EQ(thread.looks_here, thread.looks);
  EXPECT_THAT(symbols_of(thread.callers), ::testing::Contains("tried_load_then"));
}

TEST_F(WatchTest, CallsSlowWhatComputes) {
  const Tried slow = tried("work", 1500);
  EXPECT_EQ(slow.watched.end, WatchEnd::Slow) << words(slow.watched);
  EXPECT_EQ(first(slow.watched).at.symbol, "tried_work");
  EXPECT_THAT(words(slow.watched),
              AllOf(HasSubstr("slow: after"), HasSubstr("looks in libtried.so, in tried_work")));
}

TEST_F(WatchTest, SaysWhereItCrashed) {
  const Tried crash = tried("crash");
  EXPECT_EQ(crash.watched.end, WatchEnd::Crashed);
  EXPECT_EQ(crash.watched.signal, SIGSEGV);
  EXPECT_EQ(first(crash.watched).at.symbol, "tried_crash");
  EXPECT_THAT(symbols_of(first(crash.watched).callers), ::testing::Contains("tried_load_then"));
  EXPECT_THAT(words(crash.watched), AllOf(HasSubstr("SIGSEGV (Segmentation fault)"),
                                          HasSubstr("libtried.so, in tried_crash")));
  EXPECT_EQ(tried("abort").watched.signal, SIGABRT);
}

TEST_F(WatchTest, SaysWhereAShellsCommandCrashed) {
  const Tried crash = tried("/bin/sh", {"-c", std::string(MYNAH_TRIED) + " crash; exit $?"});
  EXPECT_EQ(crash.watched.end, WatchEnd::Crashed);
  EXPECT_EQ(first(crash.watched).at.symbol, "tried_crash");
}

TEST_F(WatchTest, LeavesSignalsToThePrograms) {
  const Tried handled = tried("handled");
  EXPECT_EQ(handled.watched.end, WatchEnd::Exited);
  EXPECT_EQ(handled.watched.exit_code, 7);
}

TEST_F(WatchTest, ToldOfManyThreadsIsOneLine) {
  const Tried hang = tried("pool", 1500);
  EXPECT_EQ(hang.watched.end, WatchEnd::Waits);
  EXPECT_EQ(hang.watched.threads.size(), 9U);
  EXPECT_THAT(words(hang.watched), HasSubstr("libtried.so, in tried_wait"));
}

TEST_F(WatchTest, LeavesNothingBehind) {
  const Tried left = tried("leave");
  EXPECT_EQ(left.watched.end, WatchEnd::Exited);
  EXPECT_EQ(left.watched.exit_code, 0);
  const pid_t child = std::atoi(left.out.c_str());
  ASSERT_GT(child, 0);
  EXPECT_FALSE(runs(child));
  const Tried hang = tried("leave-and-wait", 1000);
  EXPECT_EQ(hang.watched.end, WatchEnd::Waits);
  EXPECT_FALSE(runs(std::atoi(hang.out.c_str())));
}

TEST_F(WatchTest, EndsWhenWhoeverWatchesHasEnough) {
  std::stop_source stop;
  std::jthread soon([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const Tried stopped = tried(MYNAH_TRIED, {"wait"}, 60'000, stop.get_token());
  EXPECT_EQ(stopped.watched.end, WatchEnd::Stopped);
  EXPECT_THAT(words(stopped.watched), AllOf(HasSubstr("stopped after"), HasSubstr("tried_wait")));
  EXPECT_LT(stopped.watched.seconds, 30);
}

TEST_F(WatchTest, SaysWhyACommandCannotBeStarted) {
  const WatchRequest request{
      .command = {.program = "/nonexistent/program", .arguments = {}, .environment = {}},
      .limit = std::chrono::milliseconds(1000),
      .out = [](std::string_view) { return true; },
      .err = [](std::string_view) { return true; },
      .stop = {}};
  const auto watched = watch(request);
  ASSERT_FALSE(watched);
  EXPECT_THAT(watched.error().message,
              HasSubstr("cannot start /nonexistent/program: No such file or directory"));
}

TEST_F(WatchTest, IsJson) {
  const auto json = watched_json(tried("crash").watched);
  EXPECT_EQ(json["end"], "crashed");
  EXPECT_EQ(json["signal"], "SIGSEGV");
  EXPECT_EQ(json["exit_code"], nullptr);
  EXPECT_EQ(json["threads"][0]["at"]["symbol"], "tried_crash");
  const auto exited = watched_json(tried("error").watched);
  EXPECT_EQ(exited["exit_code"], 3);
  EXPECT_EQ(exited["how"], nullptr);
}

TEST(Maps, AreReadWithBlanksInPathsAndWithout) {
  const auto maps = parse_maps(
      "7f00-7f10 r-xp 00001000 08:01 1234       /usr/lib/lib c.so.6\n"
      "7f10-7f20 rw-p 00000000 00:00 0 \n"
      "7ffc0000-7ffc1000 r-xp 00000000 00:00 0                          [vdso]\n"
      "nothing\n7f30-7f20 r-xp 0 0 0 /backwards\n12345-\n-\n");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].begin, 0x7f00U);
  EXPECT_EQ(maps[0].end, 0x7f10U);
  EXPECT_TRUE(maps[0].code);
  EXPECT_EQ(maps[0].offset, 0x1000U);
  EXPECT_EQ(maps[0].path, "/usr/lib/lib c.so.6");
  EXPECT_EQ(maps[1].path, "");
  EXPECT_FALSE(maps[1].code);
  EXPECT_EQ(maps[2].path, "[vdso]");
}

TEST(Stat, IsReadWhateverAProgramIsCalled) {
  const auto line = parse_stat("1234 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 70 30 0 0 20");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "a) b (c");
  EXPECT_EQ(line->state, 'S');
  EXPECT_EQ(line->ticks, 100U);
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("1 (x)"));
  EXPECT_FALSE(parse_stat("1 (x) S 1 2 3"));
}

// The dynamic loader knows where functions are, too.
TEST(CodePlaces, AreWhereTheLoaderSays) {
  CodePlaces places(mappings_of(::getpid()));
  size_t compared = 0;
  for (const char* name : {"qsort", "strtol", "getenv", "fopen", "regcomp", "printf"}) {
    void* function = ::dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    if (function == nullptr || ::dladdr(function, &info) == 0 || info.dli_saddr != function) {
      continue;
    }
    const auto address = reinterpret_cast<uint64_t>(function);  // NOLINT
    const CodePlace place = places.at(address + 3);
    EXPECT_TRUE(places.is_code(address));
    EXPECT_EQ(place.offset, 3U);
    EXPECT_TRUE(place.inside);
    // Several names may stand for one function.
    void* same = ::dlsym(RTLD_DEFAULT, place.symbol.c_str());
    EXPECT_EQ(same == nullptr ? function : same, function) << place.symbol;
    ++compared;
  }
  EXPECT_GE(compared, 3U);
  EXPECT_EQ(places.at(1).library, "");
}

}  // namespace
}  // namespace mynah::doctor
