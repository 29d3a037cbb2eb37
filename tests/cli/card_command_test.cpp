// `mynah transcribe --device cuda` on machines whose luck is bad, and on one where it is good: a
// fake driver, whose kernels the simulation runs. One line each, and the right exit code.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/recordings.h"
#include "cli/test_context.h"
#include "cli/transcribe.h"
#include "cli/whisper_file.h"
#include "cuda/simulated_card.h"
#include "temporary_folder.h"

namespace mynah::cli {
namespace {

using gpu::fake::FakeCard;
using gpu::fake::FakeMachine;
using test::SimulatedCard;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class CardCommand : public ::testing::Test {
 protected:
  struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
  };

  CardCommand() {
    const whisper::Config config = test::tiny_config(false);
    model_ = write_whisper(folder_ / "model.gguf", config, test::tiny_vocabulary(config));
    recording_ = write_wav(folder_ / "tone.wav", 0.8);
  }

  // A run of the command with the driver of `card`.
  Outcome transcribe(SimulatedCard& card, const std::string& device,
                     const std::vector<std::string>& more = {}) {
    environment_["MYNAH_CUDA_DRIVER"] = card.fake().path();
    return transcribe(device, more);
  }

  Outcome transcribe(const std::string& device, const std::vector<std::string>& more = {}) {
    TestProgram program({verb<TranscribeCommand>("transcribe", "Write.")});
    program.environment = {{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}};
    program.environment.insert(environment_.begin(), environment_.end());
    std::vector<std::string> arguments{"transcribe",
                                       "--device",
                                       device,
                                       "--model",
                                       model_,
                                       "--no-vad",
                                       "--max-new-tokens",
                                       "8",
                                       "--temperature-increment",
                                       "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(recording_);
    const int code = program.run(arguments);
    return {code, program.out.text(), program.err.text()};
  }

  // Refused before the work with this exit code and one line that has all of `parts`.
  static void expect_refusal(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("mynah: transcribe: "));
    for (const std::string& part : parts) {
      EXPECT_THAT(outcome.err, HasSubstr(part));
    }
  }

  TemporaryFolder folder_;
  std::string model_;
  std::string recording_;
  std::map<std::string, std::string> environment_;
};

TEST_F(CardCommand, WritesWhatTheSimulatedCardWrites) {
  SimulatedCard card;
  const Outcome on_card = transcribe(card, "cuda", {"--explain"});
  EXPECT_EQ(on_card.code, 0) << on_card.err;
  EXPECT_THAT(on_card.err, HasSubstr("device cuda:0: Fake RTX, compute capability 8.9"));
  EXPECT_NE(on_card.out, "");
  // Another run finds the compiled programs.
  EXPECT_FALSE(fs::is_empty(folder_ / ".cache/mynah/cuda"));
  card.fake()->clear_calls();
  const Outcome again = transcribe(card, "cuda");
  EXPECT_EQ(again.out, on_card.out);
  for (const auto& call : card.fake()->calls()) {
    EXPECT_NE(call.function, "cuLinkComplete") << "compiled again";
  }
}

TEST_F(CardCommand, TakesTheCardThatIsNamed) {
  if (!SimulatedCard::has_level(61)) {
    GTEST_SKIP() << "this build does not simulate level 61";
  }
  SimulatedCard card(13000,
                     {.cards = {FakeCard{.name = "New"},
                                FakeCard{.name = "Old", .compute_major = 6, .compute_minor = 1}}});
  const Outcome first = transcribe(card, "cuda:0", {"--explain"});
  EXPECT_THAT(first.err, HasSubstr("device cuda:0: New, "));
  card.run_at(61);
  const Outcome second = transcribe(card, "cuda:1", {"--explain"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err,
              HasSubstr("device cuda:1: Old, compute capability 6.1, programs of level 61"));
  expect_refusal(transcribe(card, "cuda:2"),
                 {"--device cuda:2: there is cuda:0 (New), cuda:1 (Old) alone"});
}

TEST_F(CardCommand, WorksWithImagesThatAreDamaged) {
  SimulatedCard card;
  const Outcome good = transcribe(card, "cuda");
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / ".cache/mynah/cuda")) {
    fs::resize_file(entry.path(), damaged % 2 == 0 ? 10 : entry.file_size() - 1);
    ++damaged;
  }
  EXPECT_GT(damaged, 3);
  const Outcome again = transcribe(card, "cuda");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, good.out);
}

TEST_F(CardCommand, NoDriver) {
  environment_["MYNAH_CUDA_DRIVER"] = folder_ / "libcuda.so.1";
  expect_refusal(transcribe("cuda"), {"--device cuda:0: ", folder_ / "libcuda.so.1"});
}

TEST_F(CardCommand, AToolkitsStubIsNoDriver) {
  environment_["MYNAH_CUDA_DRIVER"] = gpu::fake::fake_library("stub");
  expect_refusal(transcribe("cuda"), {"is a CUDA toolkit's stub for linking, not a driver"});
}

TEST_F(CardCommand, ADriverThatLacksFunctions) {
  environment_["MYNAH_CUDA_DRIVER"] = gpu::fake::fake_library("partial");
  const Outcome outcome = transcribe("cuda");
  expect_refusal(outcome, {"lacks cuInit, ", " more"});
  EXPECT_LT(outcome.err.size(), 800U) << outcome.err;
}

TEST_F(CardCommand, ADriverOlderThanThePrograms) {
  SimulatedCard card(11000, {.version = 10020});
  expect_refusal(transcribe(card, "cuda"), {"too old", "R450 (CUDA 11.0) or newer", "CUDA 10.2"});
}

TEST_F(CardCommand, ACardOlderThanThePrograms) {
  SimulatedCard card(
      13000,
      {.cards = {FakeCard{.name = "GeForce GTX 980", .compute_major = 5, .compute_minor = 2}}});
  expect_refusal(transcribe(card, "cuda"),
                 {"cuda:0 (GeForce GTX 980) has compute capability 5.2", "6.0 or newer"});
}

TEST_F(CardCommand, ALevelThatIsAskedFor) {
  SimulatedCard card;
  if (SimulatedCard::has_level(80)) {
    environment_["MYNAH_CUDA_LEVEL"] = "80";
    const Outcome outcome = transcribe(card, "cuda", {"--explain"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("programs of level 80"));
  }
  environment_["MYNAH_CUDA_LEVEL"] = "90";
  expect_refusal(transcribe(card, "cuda"), {"runs programs of level", "not of 90"});
  environment_["MYNAH_CUDA_LEVEL"] = "fast";
  const Outcome outcome = transcribe(card, "cuda");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("MYNAH_CUDA_LEVEL is \"fast\""));
}

TEST_F(CardCommand, NoDevice) {
  SimulatedCard card(13000, FakeMachine{});
  card.fake()->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_NO_DEVICE});
  expect_refusal(transcribe(card, "cuda"), {"--device cuda:0: "});
}

TEST_F(CardCommand, TooLittleMemory) {
  // The model's table of words alone takes 3 MB.
  SimulatedCard card(13000, {.cards = {FakeCard{.memory_bytes = uint64_t{2} << 20}}});
  expect_refusal(transcribe(card, "cuda"),
                 {"cuda:0 has too little memory for this model", "are missing",
                  "take a smaller model", "--device cpu", "CUDA_ERROR_OUT_OF_MEMORY"});
}

TEST_F(CardCommand, TheCardFallsOffTheBus) {
  int lost = 0;
  // Early while the model is loaded, later while it hears.
  for (const int nth : {1, 40, 150}) {
    SimulatedCard card;
    card.fake()->fail({.function = "cuLaunchKernel",
                       .result = gpu::CUDA_ERROR_DEVICE_UNAVAILABLE,
                       .nth = nth,
                       .kills_context = true});
    const Outcome outcome = transcribe(card, "cuda");
    EXPECT_EQ(outcome.code, 3) << nth << ": " << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("cuda:0"), HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE")))
        << nth;
    lost += outcome.code == 3 ? 1 : 0;
  }
  EXPECT_EQ(lost, 3);
}

}  // namespace
}  // namespace mynah::cli
