// Two mynahs on a card with room for one.
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "cli/card_program.h"

namespace mynah::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SharedCard : public CardProgram {
 protected:
  // A card whose memory processes share. Its driver alone tells of it, no NVML: what is free is
  // found out by whoever asks for memory.
  [[nodiscard]] Variables card() const {
    return {{"MYNAH_FAKE_CARDS", "name=Fake RTX 4060,cc=8.9,uuid=0xa1,memory=8192"},
            {"MYNAH_FAKE_MEMORY_FILE", folder_ / "memory"}};
  }

  // This test takes all of it but so many MiB.
  void leave(uint64_t megabytes) const {
    std::ofstream(folder_ / "memory", std::ios::app)
        << ::getpid() << " a1 " << ((kCard - megabytes) << 20U) << '\n';
  }

  // What processes hold of it now, in MiB, rounded up.
  [[nodiscard]] uint64_t held() const {
    std::istringstream lines(test::read_file(folder_ / "memory"));
    uint64_t sum = 0;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      pid_t pid = 0;
      std::string which;
      uint64_t bytes = 0;
      if (words >> pid >> which >> bytes && ::kill(pid, 0) == 0) {
        sum += bytes;
      }
    }
    return (sum + (1 << 20) - 1) >> 20;
  }

  // A mynah that hears what comes through a pipe.
  struct Listener {
    RunningProgram program;
    UniqueFd sound;

    void hear(const std::string& bytes) const {
      EXPECT_EQ(::write(sound.get(), bytes.data(), bytes.size()),
                static_cast<ssize_t>(bytes.size()));
    }

    [[nodiscard]] ProgramOutcome end() {
      sound.reset();
      return program.wait();
    }
  };

  [[nodiscard]] Listener listen(const std::string& device, const Variables& variables) {
    auto pipe = Pipe::create();
    std::vector<std::string> arguments = transcription(device);
    arguments.back() = "-";
    return {.program = start(arguments, variables, pipe->read_end.get()),
            .sound = std::move(pipe->write_end)};
  }

  // Whether `mynah ps` names it and this device before it ends: it waits for sound for as long as
  // nobody closes the pipe.
  [[nodiscard]] bool is_loaded(Listener& listener, const std::string& device) {
    const std::string pid = std::to_string(listener.program.process.pid());
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    while (std::chrono::steady_clock::now() < until) {
      const auto ended = listener.program.process.wait(std::chrono::milliseconds(0));
      if (!ended || ended->has_value()) {
        return false;
      }
      const ProgramOutcome listed = start({"ps", pid}).wait();
      // Before it has loaded anything it is no process that is listed, which is an error.
      EXPECT_EQ(listed.end.signal, 0) << listed.err;
      if (listed.out.find("stt.decoder") != std::string::npos &&
          listed.out.find(device) != std::string::npos) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  // What one mynah holds while it listens.
  [[nodiscard]] uint64_t held_by_one() {
    Listener alone = listen("cuda:0", card());
    if (!is_loaded(alone, "cuda:0")) {
      ADD_FAILURE() << alone.end().err;
      return 0;
    }
    const uint64_t megabytes = held();
    expect_text_of(alone);
    return megabytes;
  }

  void expect_text_of(Listener& listener) const {
    listener.hear(test::read_file(recording_));
    const ProgramOutcome heard = listener.end();
    expect_text(heard);
    std::istringstream said(heard.err);
    for (std::string line; std::getline(said, line);) {
      if (!line.starts_with("mynah: proving ")) {
        EXPECT_THAT(line, Not(HasSubstr("cuda:0"))) << "nothing disturbed it";
      }
    }
  }

  static constexpr uint64_t kCard = 8192;  // MiB
};

TEST_F(SharedCard, TheSecondGoesElsewhereAndTheFirstGoesOn) {
  const uint64_t one = held_by_one();
  ASSERT_GT(one, 0U);
  leave(one + one / 2);  // for one, and what it needs while it hears
  Listener first = listen("cuda:0", card());
  if (!is_loaded(first, "cuda:0")) {
    FAIL() << first.end().err;
  }

  const ProgramOutcome second = transcribe("cuda:0,cpu", card(), {"--explain"});
  expect_text(second);
  EXPECT_THAT(second.err, HasSubstr(" on cpu (cpu ("));
  EXPECT_THAT(second.err, HasSubstr("cuda:0 has too little memory for stt: "));
  const ProgramOutcome automatic = transcribe("auto", card(), {"--explain"});
  expect_text(automatic);
  EXPECT_THAT(automatic.err, HasSubstr(" on cpu (cpu ("));
  expect_refusal(transcribe("cuda:0", card()), {"cuda:0 has too little memory for this model: "});

  expect_text_of(first);
  // That it was full is held against the card by nobody.
  const ProgramOutcome after = transcribe("cuda:0", card(), {"--explain"});
  expect_text(after);
  EXPECT_THAT(after.err, HasSubstr("stt on cuda:0 ("));
}

TEST_F(SharedCard, ThoseThatStartAtOnceAllEndWell) {
  const uint64_t one = held_by_one();
  ASSERT_GT(one, 0U);
  leave(one + one / 2);
  constexpr int kPrograms = 3;
  std::vector<RunningProgram> programs;
  programs.reserve(kPrograms);
  for (int i = 0; i < kPrograms; ++i) {
    programs.push_back(start(transcription("cuda:0,cpu"), card()));
  }
  for (RunningProgram& program : programs) {
    expect_text(program.wait());
  }
}

}  // namespace
}  // namespace mynah::cli
