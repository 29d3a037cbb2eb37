// `mynah transcribe -` and named pipes, with a recogniser that hears what it is told.
#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Stands a pipe in for standard input while it lives.
class PipedInput {
 public:
  PipedInput() : saved_(::dup(0)) {
    int fds[2];
    if (::pipe(fds) == 0) {
      ::dup2(fds[0], 0);
      ::close(fds[0]);
      write_end_ = fds[1];
    }
  }

  ~PipedInput() {
    close();
    ::dup2(saved_, 0);
    ::close(saved_);
  }

  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;

  // 16-bit samples at 16 kHz; more than a pipe holds waits for the reader.
  void write_seconds(double seconds) const {
    const std::string samples(static_cast<size_t>(seconds * 32000), '\1');
    size_t done = 0;
    while (done < samples.size()) {
      const ssize_t written = ::write(write_end_, samples.data() + done, samples.size() - done);
      if (written <= 0) {
        return;
      }
      done += static_cast<size_t>(written);
    }
  }

  void close() {
    if (write_end_ >= 0) {
      ::close(std::exchange(write_end_, -1));
    }
  }

 private:
  int saved_;
  int write_end_ = -1;
};

// Lets a writer go on once what it wrote has reached a live session.
class Heard {
 public:
  explicit Heard(FakeRecognizer& fake) {
    fake.on_push = [this] { std::call_once(once_, [this] { heard_.set_value(); }); };
  }

  void wait() { heard_.get_future().wait(); }

 private:
  std::once_flag once_;
  std::promise<void> heard_;
};

TEST_F(Transcribe, RecognisesAPipeAsItComes) {
  PipedInput input;
  Heard heard(*fake);
  std::thread writer([&] {
    input.write_seconds(1.5);
    heard.wait();
    input.write_seconds(1.0);
    input.close();
  });
  EXPECT_EQ(run({"-", "--raw", "s16le"}), 0) << err();
  writer.join();
  EXPECT_EQ(out(), "second 0\nsecond 1\nsecond 2\n");
  EXPECT_TRUE(fake->opened.empty());  // a session, not a batch
}

TEST_F(Transcribe, HearsARecordingThatIsPouredInAsTheFileItWas) {
  // One has ended before it is known how it comes, one is known for a recording before it ends.
  for (const int seconds : {3, 200}) {
    fake->opened.clear();
    PipedInput input;
    std::thread writer([&] {
      input.write_seconds(seconds - 0.5);
      input.close();
    });
    EXPECT_EQ(run({"-", "--raw", "s16le"}), 0) << err();
    writer.join();
    EXPECT_THAT(out(), StartsWith("second 0\nsecond 1\n"));
    EXPECT_EQ(std::ranges::count(out(), '\n'), seconds);
    EXPECT_THAT(fake->opened, ElementsAre("-"));
  }
}

TEST_F(Transcribe, ClipsOfAPipeAreClipsOfItsRecording) {
  PipedInput input;
  input.write_seconds(1.5);
  input.close();
  EXPECT_EQ(run({"-", "--raw", "s16le", "--clip", "0-1"}), 0) << err();
  EXPECT_THAT(fake->opened, ElementsAre("-"));
}

TEST_F(Transcribe, FilesDoNotWaitForAPipeAmongThem) {
  const std::string a = write_wav(folder / "a.wav", 1);
  const std::string b = write_wav(folder / "b.wav", 2);
  PipedInput input;
  input.write_seconds(1);
  input.close();
  const std::string c = write_wav(folder / "c.wav", 1);
  EXPECT_EQ(run({a, b, "-", c, "--raw", "s16le"}), 0) << err();
  EXPECT_THAT(fake->runs, ElementsAre(2, 1, 1));
  EXPECT_THAT(out(), StartsWith(a + ":\nsecond 0\n"));
  EXPECT_THAT(out(), HasSubstr("-:\nsecond 0\n" + c + ":\nsecond 0\n"));
}

TEST_F(Transcribe, PartialTextIsMadeForATerminalOnlyAndWrittenWhereItChanges) {
  for (const bool shown : {false, true}) {
    terminal = shown;
    PipedInput input;
    Heard heard(*fake);
    std::thread writer([&] {
      input.write_seconds(0.9);  // no segment of the fake's ends, and it says "..." all the time
      heard.wait();
      input.close();
    });
    EXPECT_EQ(run({"-", "--raw", "s16le"}), 0) << err();
    writer.join();
    EXPECT_EQ(fake->last_options.cutting.partial_text, shown);
    EXPECT_EQ(err().find("...") != std::string::npos, shown);
    EXPECT_EQ(err().find("..."), err().rfind("..."));
  }
}

TEST_F(Transcribe, AStopEndsAPipeThatSaysNothing) {
  PipedInput input;
  input.write_seconds(1.5);  // fits into the pipe, whose writing end stays open
  fake->stop_after = 1;
  EXPECT_EQ(run({"-", "--raw", "s16le", "-o", folder / "out"}), 128 + SIGINT) << err();
  EXPECT_EQ(folder.read("out/stdin.txt.partial").substr(0, 9), "second 0\n");
  EXPECT_FALSE(folder.has("out/stdin.txt"));
}

TEST_F(Transcribe, ADetectorIsMissedOnlyWhereItIsUsed) {
  const std::string a = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({a}), 0);
  EXPECT_TRUE(fake->last_engine.cuts);
  EXPECT_EQ(run({a, "--no-vad"}), 0);
  EXPECT_FALSE(fake->last_engine.cuts);
  PipedInput input;  // a live session cuts at pauses whatever is asked for
  input.write_seconds(0.5);
  input.close();
  EXPECT_EQ(run({"-", "--raw", "s16le", "--no-vad"}), 0);
  EXPECT_TRUE(fake->last_engine.cuts);
}

}  // namespace
}  // namespace mynah::cli
