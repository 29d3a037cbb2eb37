// Workers that work, and workers that end, hang, are stopped or answer nonsense: each is told of in
// bounded time, and nothing is left of it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/kinds/detector/detector_wire.h"
#include "place/kinds/kinds.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/made_up_values.h"
#include "place/workers/operation_cases.h"
#include "place/workers/remote_probe.h"
#include "place/workers/worker_lane.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr milliseconds kPatience{60000};

Result<std::shared_ptr<WorkerLane>> try_start(const std::string& manner,
                                              const std::string& program = MYNAH_TEST_WORKER) {
  ::setenv("MYNAH_WORKER_MANNER", manner.c_str(), 1);
  return WorkerLane::start({.program = program, .device = "cpu", .settings = {}, .faults = {}});
}

std::shared_ptr<WorkerLane> start(const std::string& manner = "") {
  auto worker = try_start(manner);
  EXPECT_TRUE(worker) << worker.error().message;
  return worker.value_or(nullptr);
}

// What it says of itself.
Result<std::vector<StageReport>> report(WorkerLane& worker, milliseconds step = kPatience) {
  return worker.ask_for<std::vector<StageReport>>(Ask::Report, step, {});
}

// Asks for something, and how that fails.
std::string failure_of(WorkerLane& worker, milliseconds step = kPatience) {
  try {
    const auto answer = report(worker, step);
    ADD_FAILURE() << "it answered" << (answer ? "" : ": " + answer.error().message);
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.error().code, ErrorCode::Device);
    return error.error().message;
  }
  return {};
}

// Descriptors that this process has, and children that it has not waited for.
size_t descriptors() {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

void expect_no_child() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Also of another's child: until nobody has waited for it, it is a zombie.
bool runs(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const size_t end = line.rfind(')');
  return end != std::string::npos && line.at(end + 2) != 'Z' && line.at(end + 2) != 'X';
}

TEST(WorkerLane, AnswersWhatItIsAsked) {
  const auto worker = start();
  EXPECT_TRUE(worker->alive());
  EXPECT_EQ(worker->last_stage(), std::nullopt);
  EXPECT_EQ(report(*worker).value().size(), 0U);
  const auto outcomes = worker->ask_for<std::vector<OperationOutcome>>(Ask::Operations, kPatience,
                                                                       {}, std::string("cpu"));
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  EXPECT_EQ(compare_with_definition(*outcomes), "");
  ASSERT_EQ(report(*worker).value().size(), 1U);
  EXPECT_GT(report(*worker).value()[0].operations, 0U);
  EXPECT_TRUE(worker->last_stage());
}

TEST(WorkerLane, WhatItRefusesIsAnErrorAndItGoesOn) {
  const auto worker = start();
  const auto voice =
      worker->ask_for<VoiceFacts>(Ask::FindVoice, kPatience, {}, std::string("anna"));
  ASSERT_FALSE(voice);
  EXPECT_EQ(voice.error().message, "no model of tts is open");
  // Requests that are none are refused as well, whatever they are.
  const std::string nonsense(1000, '\xff');
  for (uint32_t what = 0; what < 100; ++what) {
    EXPECT_FALSE(worker->ask(static_cast<Ask>(what), std::as_bytes(std::span(nonsense)), kPatience))
        << what;
  }
  EXPECT_TRUE(report(*worker));
}

TEST(WorkerLane, ThreadsAskOneAfterTheOther) {
  const auto worker = start();
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_TRUE(report(*worker));
        EXPECT_TRUE(worker->alive());
      }
    });
  }
}

TEST(WorkerLane, ThatIsKilledIsGoneForEver) {
  const auto worker = start();
  const pid_t pid = worker->pid();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_EQ(failure_of(*worker),
            "cpu was killed (signal 9), perhaps by the system for want of memory, or by somebody");
  EXPECT_EQ(failure_of(*worker),
            "cpu was killed (signal 9), perhaps by the system for want of memory, or by somebody")
      << "the same each time";
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(::kill(pid, 0), -1) << "it was waited for";
  worker->end("another reason");
  worker->retire();
  worker->cancel();
  EXPECT_THAT(failure_of(*worker), HasSubstr("signal 9"));
}

TEST(WorkerLane, ThatIsRetiredSaysSo) {
  const auto worker = start();
  worker->retire();
  worker->retire();
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(failure_of(*worker), "cpu was let go, since nobody used it");
}

TEST(WorkerLane, ThatIsStoppedIsGivenUp) {
  const auto worker = start();
  const pid_t pid = worker->pid();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_of(*worker), StartsWith("cpu was stopped, and stayed so, for "));
  // A second where nobody else has the cores; far less than the call might take where they do.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience);
  EXPECT_EQ(::kill(pid, 0), -1) << "it was killed and waited for";
}

TEST(WorkerLane, ThatHangsIsGivenUp) {
  const auto worker = start("hangs");
  EXPECT_THAT(failure_of(*worker, milliseconds(50)), HasSubstr("cpu hung: no step in "));
  const auto still = start("still");
  EXPECT_THAT(failure_of(*still), StartsWith("cpu gave no sign of life for "));
}

// A worker that is left when the user stops in the middle of a call, and how the call ends.
Error stopped_error_of(const std::string& manner) {
  ::setenv("MYNAH_WORKER_MANNER", manner.c_str(), 1);
  std::stop_source user;
  const auto worker = WorkerLane::start({.program = MYNAH_TEST_WORKER,
                                         .device = "cpu",
                                         .settings = {},
                                         .faults = {},
                                         .stop = user.get_token()});
  EXPECT_TRUE(worker);
  // What is asked behind the stop is waited for, so the call must have begun: it has this long.
  const std::jthread other([&user] {
    std::this_thread::sleep_for(milliseconds(1000));
    user.request_stop();
  });
  Error error;
  for (const char* const which : {"the call that is under way", "what is asked of it later"}) {
    try {
      const auto answer = report(**worker);
      ADD_FAILURE() << which << ": it answered";
    } catch (const DeviceError& thrown) {
      error = thrown.error();
      EXPECT_EQ(error.code, ErrorCode::Cancelled) << which << ": " << error.message;
    }
  }
  EXPECT_FALSE((*worker)->alive());
  return error;
}

TEST(WorkerLane, IsLeftWhereTheUserStopsThoughItNeverAnswers) {
  EXPECT_THAT(stopped_error_of("hangs").message, HasSubstr("mynah was stopped"));
  expect_no_child();
}

TEST(WorkerLane, AnswersWhatItIsAskedThoughTheUserStops) {
  std::stop_source user;
  user.request_stop();
  ::setenv("MYNAH_WORKER_MANNER", "", 1);
  const auto worker = WorkerLane::start({.program = MYNAH_TEST_WORKER,
                                         .device = "cpu",
                                         .settings = {},
                                         .faults = {},
                                         .stop = user.get_token()});
  ASSERT_TRUE(worker);
  EXPECT_TRUE(report(**worker)) << "a last look is worth waiting for";
  EXPECT_TRUE((*worker)->alive());
}

TEST(WorkerLane, ThatIsCancelledByAnotherThreadEndsTheCall) {
  const auto worker = start("hangs");
  std::jthread other([&] { worker->cancel(); });
  EXPECT_EQ(failure_of(*worker),
            "cpu was killed (signal 9), perhaps by the system for want of memory, or by somebody");
}

TEST(WorkerLane, ThatIsEndedByAnotherThreadFailsTheCallForThatReason) {
  const auto worker = start("hangs");
  const pid_t pid = worker->pid();
  std::jthread other([&] { EXPECT_EQ(failure_of(*worker), "cpu computes wrongly"); });
  EXPECT_TRUE(worker->alive()) << "without waiting for the call";
  worker->end("computes wrongly");
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(::kill(pid, 0), -1) << "it was waited for";
}

TEST(WorkerLane, AnAnswerThatNothingDependsOnMayComeLate) {
  const mynah::test::TemporaryFolder folder;
  ::setenv("MYNAH_WORKER_WAITS_FOR", (folder / "go").c_str(), 1);
  const auto worker = start("is late");
  for (int i = 0; i < 2; ++i) {
    const auto told =
        worker->ask_if_prompt<std::vector<StageReport>>(Ask::Report, milliseconds(50));
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().message, "cpu did not answer in time");
    EXPECT_TRUE(worker->alive());
  }
  mynah::test::write_file(folder / "go", "");
  EXPECT_TRUE(report(*worker)) << "what came late was passed over";
  EXPECT_TRUE(worker->ask_if_prompt<std::vector<StageReport>>(Ask::Report, kPatience));
}

TEST(WorkerLane, ThatIsLateAndHangsIsGivenUpByWhoDependsOnIt) {
  const auto worker = start("hangs");
  EXPECT_FALSE(worker->tell_if_prompt(Ask::Report, milliseconds(50)));
  EXPECT_THAT(failure_of(*worker, milliseconds(50)), HasSubstr("cpu hung: no step in "));
  EXPECT_THROW(static_cast<void>(worker->tell_if_prompt(Ask::Report, milliseconds(50))),
               DeviceError);
}

TEST(WorkerLane, ThatEndsByItselfSaysHow) {
  EXPECT_EQ(failure_of(*start("exits")), "cpu ended with exit code 7");
  EXPECT_THAT(failure_of(*start("crashes")), StartsWith("cpu crashed (signal 11, "));
  EXPECT_EQ(failure_of(*start("hangs up")), "cpu closed its channel");
}

TEST(WorkerLane, ThatAnswersNonsenseIsEnded) {
  for (const char* manner :
       {"scribbles", "tells of more than there is", "tells of more than anybody sends",
        "answers another request", "answers in another kind", "sends other bytes", "sends less"}) {
    SCOPED_TRACE(manner);
    const auto worker = start(manner);
    const pid_t pid = worker->pid();
    EXPECT_THAT(failure_of(*worker), StartsWith("cpu answered "));
    EXPECT_FALSE(worker->alive());
    EXPECT_EQ(::kill(pid, 0), -1);
  }
}

TEST(WorkerLane, WhatItSaysSteersNoTerminal) {
  const auto refusing = start("refuses");
  const auto refused = report(*refusing);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, StartsWith("line 1 line 2  [31mxxx"));
  EXPECT_LT(refused.error().message.size(), 5000U);
  EXPECT_TRUE(refusing->alive());
  const auto failing = start("fails");
  const std::string failure = failure_of(*failing);
  EXPECT_THAT(failure, StartsWith("cpu failed: line 1 line 2  [31mxxx"));
  EXPECT_LT(failure.size(), 5000U);
  EXPECT_FALSE(failing->alive());
}

TEST(WorkerLane, WantOfDescriptorsIsTheDevicesFailure) {
  rlimit most{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &most), 0);
  for (const size_t free : {0U, 2U, 4U, 6U}) {
    const rlimit few{.rlim_cur = descriptors() - 1 + free, .rlim_max = most.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto none = try_start("");
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &most), 0);
    ASSERT_FALSE(none) << free;
    EXPECT_EQ(none.error().code, ErrorCode::Device) << free;
    EXPECT_THAT(none.error().message, StartsWith("cpu got no worker: ")) << free;
    EXPECT_THAT(none.error().message, EndsWith(": Too many open files")) << free;
  }
  expect_no_child();
}

TEST(WorkerLane, AProgramThatIsNoneIsAnError) {
  const auto missing = try_start("", "/no/such/program");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Device);
  EXPECT_EQ(missing.error().message,
            "cpu got no worker: cannot start /no/such/program: No such file or directory");
  const auto other = try_start("", "/bin/true");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "cpu ended with exit code 0");
  expect_no_child();
}

TEST(WorkerLane, LeavesNothingBehind) {
  static_cast<void>(start());  // what is made once
  const size_t before = descriptors();
  for (const char* manner : {"", "exits", "crashes", "scribbles", "hangs up"}) {
    const auto worker = start(manner);
    const pid_t pid = worker->pid();
    EXPECT_TRUE(runs(pid));
    try {
      static_cast<void>(report(*worker));
    } catch (const DeviceError&) {
      EXPECT_FALSE(runs(pid));
    }
  }
  EXPECT_EQ(descriptors(), before);
  expect_no_child();
}

TEST(WorkerLane, EndsWithWhoAskedIt) {
  ::setenv("MYNAH_WORKER_MANNER", "", 1);
  auto pipe = Pipe::create();
  auto parent = Process::spawn(
      {.program = MYNAH_TEST_WORKER,
       .arguments = {"parent"},
       .descriptors = {{pipe->write_end.get(), STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}},
       .environment = inherited_environment()});
  ASSERT_TRUE(parent);
  pipe->write_end.reset();
  std::array<char, 32> text{};
  ASSERT_GT(::read(pipe->read_end.get(), text.data(), text.size() - 1), 0);
  const pid_t worker = std::atoi(text.data());
  ASSERT_GT(worker, 0);
  EXPECT_TRUE(runs(worker));
  parent->kill(SIGKILL);
  EXPECT_EQ(parent->wait(std::nullopt).value()->signal, SIGKILL);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (runs(worker) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(runs(worker));
}

// A worker that gives these answers, one after another.
class Scripted {
 public:
  template <class... Answers>
  explicit Scripted(const Answers&... answers) {
    const std::vector<std::string> script{text_of(answers)...};
    const auto bytes = test::wire_bytes(script);
    mynah::test::write_file(
        folder_ / "answers",
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    ::setenv("MYNAH_WORKER_ANSWERS", (folder_ / "answers").c_str(), 1);
    worker = start("script");
    ::unsetenv("MYNAH_WORKER_ANSWERS");
  }

  std::shared_ptr<WorkerLane> worker;

 private:
  template <class T>
  static std::string text_of(const T& answer) {
    const auto bytes = test::wire_bytes(answer);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  mynah::test::TemporaryFolder folder_;
};

// With what nobody measured.
const StepPace kAnyTime;

template <class Work>
std::string device_error_of(const Work& work) {
  try {
    static_cast<void>(work());
  } catch (const DeviceError& error) {
    return error.error().message;
  }
  ADD_FAILURE() << "no DeviceError";
  return {};
}

constexpr const char* kNoAnswer = "cpu answered with bytes that are no answer";

TEST(RemoteModels, ADetectorWhoseFactsCannotBe) {
  const Scripted script(DetectorFacts{.rate_hz = 0, .frame_s = 0.032, .name = "silero"});
  EXPECT_EQ(device_error_of([&] { return open_remote_detector(script.worker, {}, {}, kAnyTime); }),
            kNoAnswer);
  EXPECT_FALSE(script.worker->alive());
}

TEST(RemoteModels, ADetectorThatAnswersForOtherRecordings) {
  const Scripted script(DetectorFacts{.rate_hz = 16000, .frame_s = 0.032, .name = "silero"},
                        std::vector<std::vector<float>>(1));
  const auto detector = open_remote_detector(script.worker, {}, {}, kAnyTime);
  ASSERT_TRUE(detector);
  const std::vector<float> sound(100);
  const std::array<std::span<const float>, 2> recordings = {sound, sound};
  const auto found = (*detector)->probabilities(recordings);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, kNoAnswer);
}

VoiceModelFacts voice_facts() {
  VoiceModelFacts facts;
  facts.name = "kokoro";
  facts.rate_hz = 24000;
  facts.most_phonemes = 510;
  return facts;
}

TEST(RemoteModels, AVoiceThatLeavesOutWords) {
  ClauseSound sound;
  sound.samples.resize(100);
  sound.words.resize(1);
  const Scripted script(voice_facts(), sound);
  const auto voice = open_remote_voice(script.worker, {}, {}, {}, kAnyTime);
  ASSERT_TRUE(voice);
  const std::vector<PhonemeWord> words(2);
  EXPECT_EQ(device_error_of([&] { return (*voice)->speak(words, {}); }), kNoAnswer);
}

TEST(RemoteModels, AVoiceKnowsItsPhonemesWithoutAsking) {
  VoiceModelFacts facts = voice_facts();
  facts.phonemes = "aə";
  const Scripted script(facts);
  const auto voice = open_remote_voice(script.worker, {}, {}, {}, kAnyTime);
  ASSERT_TRUE(voice);
  script.worker->end("was killed");
  EXPECT_EQ((*voice)->alphabet().count("aəb a"), 3U);
}

}  // namespace
}  // namespace mynah::place
