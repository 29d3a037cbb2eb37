// `mynah transcribe --device cuda` on machines whose luck is bad, and on one where it is good: one
// line each, and the right exit code.
#include "cli/card_program.h"

#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace mynah::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace fs = std::filesystem;

TEST_F(CardProgram, WritesWhatTheSimulationWrites) {
  // simt:0 computes at the level that an 8.9 card does.
  const ProgramOutcome simulated = transcribe("simt:0", {}, {"--storage", "f16"});
  expect_text(simulated);
  const ProgramOutcome card = transcribe(
      "cuda", {{"MYNAH_FAKE_CARDS", "name=Fake RTX 4060,cc=8.9,memory=8192"}}, {"--explain"});
  expect_text(card);
  EXPECT_EQ(card.out, simulated.out);
  EXPECT_THAT(card.err, HasSubstr("stt on cuda:0 (Fake RTX 4060, compute capability 8.9, programs "
                                  "of level 80, driver R580 (CUDA 13.0), f16, proven "));
  const ProgramOutcome again = transcribe("cuda");
  EXPECT_EQ(again.out, simulated.out);
  EXPECT_EQ(again.err, "") << "no word, of misuse either";
}

TEST_F(CardProgram, IsKnownToTheDoctorByWhatTheDriverSays) {
  const Variables card = {{"MYNAH_FAKE_CARDS", "name=Fake RTX 4060,cc=8.9,memory=8192"}};
  const std::string folder = folder_ / "project";
  fs::create_directory(folder);
  test::write_file(folder + "/requirements.txt", "requests==2.32.3\n");
  const ProgramOutcome told = start({"doctor", "--facts", folder}, card).wait();
  EXPECT_EQ(told.end.exit_code, 0) << told.err;
  const auto cards = nlohmann::json::parse(told.out)["machine"]["cards"];
  const auto fake = std::ranges::find_if(
      cards, [](const auto& each) { return each.value("name", "") == "Fake RTX 4060"; });
  ASSERT_NE(fake, cards.end()) << told.out;
  EXPECT_EQ((*fake)["compute_capability"], "8.9");
  EXPECT_EQ((*fake)["memory_mib"], 8192);
  const ProgramOutcome report = start({"doctor", folder}, card).wait();
  EXPECT_THAT(report.out, HasSubstr("Fake RTX 4060"));
  // A driver that crashes takes its own process with it. What another one told is kept elsewhere.
  const ProgramOutcome crashed =
      start({"doctor", "--facts", folder},
            {{"HOME", folder_ / "other"}, {"MYNAH_FAKE_FAILURES", "cuInit:crash@1"}})
          .wait();
  EXPECT_EQ(crashed.end.exit_code, 0) << crashed.err;
  EXPECT_EQ(crashed.out.find("Fake RTX"), std::string::npos);
  EXPECT_THAT(crashed.out, HasSubstr("NVIDIA's driver did not answer when it was started"));
}

TEST_F(CardProgram, WorksWithImagesThatAreDamaged) {
  const ProgramOutcome good = transcribe("cuda");
  expect_text(good);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / ".cache/mynah/cuda")) {
    fs::resize_file(entry.path(), damaged % 2 == 0 ? 10 : entry.file_size() - 1);
    ++damaged;
  }
  EXPECT_GT(damaged, 3);
  const ProgramOutcome again = transcribe("cuda");
  expect_text(again);
  EXPECT_EQ(again.out, good.out);
}

TEST_F(CardProgram, ImagesAreKeptFromRunToRun) {
  expect_text(transcribe("cuda"));
  const auto images = std::distance(fs::directory_iterator(folder_ / ".cache/mynah/cuda"),
                                    fs::directory_iterator());
  EXPECT_GT(images, 3);
  // Whatever it would compile anew fails.
  expect_text(transcribe("cuda", {{"MYNAH_FAKE_FAILURES", "cuLinkComplete:999@1"}}));
}

TEST_F(CardProgram, TakesTheCardThatIsNamed) {
  const Variables cards = {{"MYNAH_FAKE_CARDS", "name=New;name=Other,cc=8.0"},
                           {"MYNAH_FAKE_VERSION", "12040"}};
  const ProgramOutcome second = transcribe("cuda:1", cards, {"--explain"});
  expect_text(second);
  EXPECT_THAT(second.err, HasSubstr("stt on cuda:1 (Other, compute capability 8.0, programs of "
                                    "level 80, driver R550 (CUDA 12.4)"));
  expect_refusal(transcribe("cuda:2", cards),
                 {"--device cuda:2: there is cuda:0 (New), cuda:1 (Other) alone"});
}

TEST_F(CardProgram, AProofIsToldOfWhereNobodySitsAtATerminalAndCounted) {
  constexpr const char* kProving = "mynah: proving cuda:0 for stt (kept for the next time)\n";
  constexpr const char* kCounted = "mynah: proofs took ";
  const ProgramOutcome first = transcribe("cuda", {}, {"--explain", "--json"});
  expect_text(first);
  EXPECT_THAT(first.err, StartsWith(kProving));
  EXPECT_THAT(first.err, HasSubstr(kCounted));
  EXPECT_GT(placement_of(first).at("proof_ms"), 0.0);
  const ProgramOutcome second = transcribe("cuda", {}, {"--explain", "--json"});
  expect_text(second);
  EXPECT_THAT(second.err, Not(HasSubstr(kProving)));
  EXPECT_THAT(second.err, Not(HasSubstr(kCounted)));
  EXPECT_TRUE(placement_of(second).at("proof_ms").is_null());
}

TEST_F(CardProgram, RunsEveryLevelThatThisBuildSimulates) {
  // A card of each level, and Hopper's own where it is asked for.
  const std::map<int, Variables> levels = {
      {60, {{"MYNAH_FAKE_CARDS", "cc=6.0"}}},
      {61, {{"MYNAH_FAKE_CARDS", "cc=6.1"}}},
      {75, {{"MYNAH_FAKE_CARDS", "cc=7.5"}}},
      {80, {{"MYNAH_FAKE_CARDS", "cc=8.0"}}},
      {90, {{"MYNAH_FAKE_CARDS", "cc=9.0"}, {"MYNAH_CUDA_LEVEL", "90"}}},
  };
  int ran = 0;
  for (const int level : {MYNAH_SIMT_LEVELS}) {
    SCOPED_TRACE(level);
    const ProgramOutcome outcome = transcribe("cuda", levels.at(level), {"--explain"});
    expect_text(outcome);
    EXPECT_THAT(outcome.err, HasSubstr(", programs of level " + std::to_string(level) + ", "));
    ++ran;
  }
  EXPECT_GT(ran, 0);
}

TEST_F(CardProgram, ALevelThatIsAskedFor) {
  expect_refusal(transcribe("cuda", {{"MYNAH_CUDA_LEVEL", "90"}}),
                 {"cuda:0 failed its proof: it (Fake RTX) has compute capability 8.9 and runs "
                  "programs of level",
                  "not of 90"});
  const ProgramOutcome outcome = transcribe("cuda", {{"MYNAH_CUDA_LEVEL", "fast"}});
  EXPECT_EQ(outcome.end.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("MYNAH_CUDA_LEVEL is \"fast\""));
}

TEST_F(CardProgram, NoDriver) {
  const std::string missing = folder_ / "libcuda.so.1";
  expect_refusal(transcribe("cuda", {{"MYNAH_CUDA_DRIVER", missing}}),
                 {"--device cuda:0: ", missing});
}

TEST_F(CardProgram, AToolkitsStubIsNoDriver) {
  expect_refusal(transcribe("cuda", {{"MYNAH_CUDA_DRIVER", MYNAH_FAKE_CUDA_STUB}}),
                 {"is a CUDA toolkit's stub for linking, not a driver"});
}

TEST_F(CardProgram, ADriverThatLacksFunctions) {
  const ProgramOutcome outcome =
      transcribe("cuda", {{"MYNAH_CUDA_DRIVER", MYNAH_FAKE_CUDA_PARTIAL}});
  expect_refusal(outcome, {"lacks cuInit, ", " more"});
  EXPECT_LT(outcome.err.size(), 800U) << outcome.err;
}

TEST_F(CardProgram, ADriverOlderThanThePrograms) {
  expect_refusal(transcribe("cuda", {{"MYNAH_FAKE_VERSION", "10020"}}),
                 {"too old", "R450 (CUDA 11.0) or newer", "CUDA 10.2"});
}

TEST_F(CardProgram, ACardOlderThanThePrograms) {
  expect_refusal(transcribe("cuda", {{"MYNAH_FAKE_CARDS", "name=GTX 980,cc=5.2"}}),
                 {"cuda:0 cannot be used: its compute capability is 5.2, and mynah's kernels need "
                  "6.0 or newer (Pascal)"});
}

TEST_F(CardProgram, NoDevice) {
  expect_refusal(transcribe("cuda", {{"MYNAH_FAKE_CARDS", "none"}}), {"--device cuda:0: "});
  expect_refusal(transcribe("cuda", {{"MYNAH_FAKE_FAILURES", "cuInit:100@1"}}),
                 {"--device cuda:0: "});
}

TEST_F(CardProgram, ADriverThatFailsEndsTheWorkInOneLine) {
  const std::map<std::string, std::string> failures = {
      {"cuInit:999@1", "--device cuda:0: "},
      {"cuDeviceGetCount:100@1", "--device cuda:0: "},
      {"cuLaunchKernel:719@1", "CUDA_ERROR_LAUNCH_FAILED (719)"},
      {"cuLaunchKernel:719@200", "CUDA_ERROR_LAUNCH_FAILED (719)"},
      {"cuLaunchKernel:46@40:kills", "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"},
      {"cuStreamSynchronize:700@5", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
      {"cuMemcpyDtoHAsync:214@2", "CUDA_ERROR_ECC_UNCORRECTABLE (214)"},
  };
  for (const auto& [failure, told] : failures) {
    const ProgramOutcome outcome = transcribe("cuda", {{"MYNAH_FAKE_FAILURES", failure}});
    SCOPED_TRACE(failure);
    expect_refusal(outcome, {"cuda:0", told});
    // Whatever failed is said once.
    EXPECT_THAT(outcome.err, Not(HasSubstr("failed: cuda")));
    EXPECT_THAT(outcome.err, Not(HasSubstr("failed: failed")));
  }
}

TEST_F(CardProgram, ACardThatFallsOffTheBusInTheMiddleEndsTheWorkInOneLine) {
  expect_text(transcribe("cuda"));
  int lost = 0;
  // Early while the model is loaded, later while it hears: the proof of the run before holds.
  for (const char* nth : {"1", "40", "150"}) {
    SCOPED_TRACE(nth);
    const ProgramOutcome outcome = transcribe(
        "cuda", {{"MYNAH_FAKE_FAILURES", std::string("cuLaunchKernel:46@") + nth + ":kills"}});
    EXPECT_EQ(outcome.end.exit_code, 3) << outcome.err;
    EXPECT_EQ(std::ranges::count(behind_proofs(outcome), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("cuda:0 failed"));
    EXPECT_THAT(outcome.err, HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE (46)"));
    lost += outcome.end.exit_code == 3 ? 1 : 0;
  }
  EXPECT_EQ(lost, 3);
}

TEST_F(CardProgram, TextThatNamesNoFailureIsSaid) {
  const ProgramOutcome outcome = transcribe("cuda", {{"MYNAH_FAKE_FAILURES", "cuLaunch:1@1"}});
  EXPECT_EQ(outcome.end.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("simulated driver: MYNAH_FAKE_FAILURES: \"cuLaunch\": wanted "
                                     "a function of the driver that can fail"));
  EXPECT_THAT(outcome.err, HasSubstr("CUDA_ERROR_INVALID_VALUE (1)"));
}

}  // namespace
}  // namespace mynah::cli
