#include "base/process.h"

#include <array>
#include <csignal>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace mynah {
namespace {

using std::chrono::milliseconds;

// /bin/sh with a script, its standard output in a pipe.
struct Shell {
  Result<Process> process = fail(ErrorCode::Io, "not started");
  UniqueFd output;

  explicit Shell(const std::string& script, std::vector<std::string> environment = {}) {
    auto pipe = Pipe::create();
    ProcessSpec spec;
    spec.program = "/bin/sh";
    spec.arguments = {"-c", script};
    spec.descriptors = {{pipe->write_end.get(), STDOUT_FILENO}};
    spec.environment = std::move(environment);
    process = Process::spawn(spec);
    output = std::move(pipe->read_end);
  }

  std::string read_all() {
    std::string text;
    std::array<char, 256> block{};
    ssize_t got = 0;
    while ((got = ::read(output.get(), block.data(), block.size())) > 0) {
      text.append(block.data(), static_cast<size_t>(got));
    }
    return text;
  }
};

TEST(Process, ItsOutputAndExitCodeComeBack) {
  Shell shell("echo heard; exit 7");
  ASSERT_TRUE(shell.process);
  EXPECT_EQ(shell.read_all(), "heard\n");
  const auto end = shell.process->wait(std::nullopt);
  ASSERT_TRUE(end && *end);
  EXPECT_EQ((*end)->exit_code, 7);
  EXPECT_FALSE((*end)->ok());
  EXPECT_EQ(shell.process->wait(milliseconds(0)).value()->exit_code, 7);
}

TEST(Process, ItInheritsNothingThatWasNotHandedOver) {
  ASSERT_EQ(::setenv("MYNAH_SECRET", "x", 1), 0);
  const UniqueFd open_to_all(::dup(STDOUT_FILENO));  // without close-on-exec
  Shell shell("echo ${MYNAH_SECRET-none} $GIVEN; ls /proc/self/fd | wc -l", {"GIVEN=1"});
  // Descriptors 0 to 2, and the one with which ls reads the folder.
  EXPECT_EQ(shell.read_all(), "none 1\n4\n");
}

TEST(Process, ADescriptorMayTakeTheNumberOfAnother) {
  auto first = Pipe::create();
  auto second = Pipe::create();
  ASSERT_TRUE(first && second);
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.arguments = {"-c", "echo one >&" + std::to_string(second->write_end.get()) +
                              "; echo two >&" + std::to_string(first->write_end.get())};
  spec.descriptors = {{first->write_end.get(), second->write_end.get()},
                      {second->write_end.get(), first->write_end.get()}};
  ASSERT_LT(second->write_end.get(), 10) << "the shell takes one digit";
  auto process = Process::spawn(spec);
  ASSERT_TRUE(process);
  std::array<char, 4> text{};
  EXPECT_EQ(::read(first->read_end.get(), text.data(), text.size()), 4);
  EXPECT_EQ(std::string(text.data(), 4), "one\n");
}

TEST(Process, WaitingEndsAtItsLimitAndKillingEndsTheProcess) {
  Shell shell("exec sleep 1000");
  ASSERT_TRUE(shell.process);
  EXPECT_EQ(shell.process->wait(milliseconds(1)).value(), std::nullopt);
  shell.process->kill(SIGTERM);
  const auto end = shell.process->wait(std::nullopt);
  ASSERT_TRUE(end && *end);
  EXPECT_EQ((*end)->signal, SIGTERM);
}

TEST(Process, IsKilledFromAnotherThreadWhileItIsWaitedFor) {
  for (int i = 0; i < 20; ++i) {
    Shell shell("exec sleep 1000");
    ASSERT_TRUE(shell.process);
    std::jthread killer([&] {
      for (int again = 0; again < 20; ++again) {
        shell.process->kill(SIGKILL);  // some of it comes after its end
      }
    });
    EXPECT_EQ(shell.process->wait(std::nullopt).value()->signal, SIGKILL);
  }
}

TEST(Process, NoneIsLeftBehind) {
  Shell* shell = new Shell("exec sleep 1000");
  const pid_t pid = shell->process->pid();
  delete shell;
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Process, KillingAGroupOfItsOwnReachesWhatItStarted) {
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  auto process = Process::spawn({.program = "/bin/sh",
                                 .arguments = {"-c", "sleep 1000 & echo begun; wait"},
                                 .descriptors = {{pipe->write_end.get(), STDOUT_FILENO}},
                                 .environment = {},
                                 .group = ProcessGroup::Own});
  ASSERT_TRUE(process);
  pipe->write_end.reset();
  std::array<char, 16> text{};
  ASSERT_EQ(::read(pipe->read_end.get(), text.data(), text.size()), 6);
  process->kill(SIGTERM);
  // At its end only once `sleep` is gone too: it holds the other end.
  EXPECT_EQ(::read(pipe->read_end.get(), text.data(), text.size()), 0);
  EXPECT_EQ(process->wait(std::nullopt).value()->signal, SIGTERM);
}

TEST(FindProgram, LooksWhereAShellWould) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("/bin/no-such-program"), std::nullopt);
  EXPECT_EQ(find_program("no-such-program"), std::nullopt);
  EXPECT_EQ(find_program("/bin/"), std::nullopt);
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->substr(shell->size() - 3), "/sh");
}

TEST(Process, AMissingProgramIsAnError) {
  ProcessSpec spec;
  spec.program = "/nonexistent/program";
  const auto process = Process::spawn(spec);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::NotFound);
}

TEST(WaitReadable, AStopEndsIt) {
  auto pipe = Pipe::create();
  ASSERT_TRUE(pipe);
  std::stop_source source;
  const auto wait = [&](std::optional<milliseconds> limit) {
    return wait_readable(pipe->read_end.get(), limit, source.get_token());
  };
  EXPECT_EQ(wait(milliseconds(1)).value(), false);
  ASSERT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  EXPECT_EQ(wait(std::nullopt).value(), true);
  source.request_stop();
  // Even while there is something to read: who writes without end would never be stopped.
  const auto stopped = wait(std::nullopt);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace mynah
