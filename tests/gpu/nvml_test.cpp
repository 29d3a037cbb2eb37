#include "gpu/nvml.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "gpu/fake_nvml/loaded_nvml.h"
#include "gpu/nvml_errors.h"
#include "temporary_folder.h"

namespace mynah::gpu {
namespace {

using fake::FakeNvmlCard;
using fake::LoadedNvml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

NvmlFacts read(const LoadedNvml& fake, const std::vector<std::string>& addresses = {}) {
  const auto nvml = Nvml::open(fake.search());
  EXPECT_TRUE(nvml) << nvml.error().message;
  auto facts = (*nvml)->read(addresses);
  EXPECT_TRUE(facts) << facts.error().message;
  return *std::move(facts);
}

std::string refusal(const NvmlSearch& search) {
  const auto nvml = Nvml::open(search);
  EXPECT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, ErrorCode::Environment);
  EXPECT_EQ(nvml.error().message.find('\n'), std::string::npos);
  return nvml.error().message;
}

TEST(NvmlLibrary, TellsDriverAndCards) {
  const LoadedNvml fake;
  fake->cards = {FakeNvmlCard{.compute_mode = CU_COMPUTEMODE_EXCLUSIVE_PROCESS,
                              .processes = {{.pid = 17, .bytes = 300}, {.pid = 18, .bytes = 5}}},
                 FakeNvmlCard{.bus = 0xc1, .name = "NVIDIA H200", .uuid = "GPU-22"}};
  const NvmlFacts facts = read(fake);
  EXPECT_EQ(facts.driver_release, "550.54.14");
  EXPECT_EQ(facts.cuda_version, 12040);
  ASSERT_EQ(facts.cards.size(), 2U);
  const NvmlCard& card = facts.cards.front();
  EXPECT_EQ(card.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(card.name, "Fake RTX");
  EXPECT_EQ(card.uuid, "GPU-10101010-1010-1010-1010-101010101010");
  EXPECT_EQ(card.memory, (NvmlMemory{.total = 8ULL << 30, .free = 7ULL << 30, .used = 1ULL << 30}));
  EXPECT_EQ(card.compute_major, 8);
  EXPECT_EQ(card.compute_minor, 9);
  EXPECT_EQ(card.compute_mode, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
  EXPECT_EQ(card.divided, std::nullopt);
  ASSERT_EQ(card.processes.size(), 2U);
  EXPECT_EQ(card.processes.front().pid, 17);
  EXPECT_EQ(card.processes.front().bytes, 300U);
  EXPECT_EQ(facts.cards.back().pci_bus_id, "0000:c1:00.0");
  EXPECT_TRUE(facts.cards.back().processes.empty());
}

TEST(NvmlLibrary, WakesTheNamedCardsAlone) {
  const LoadedNvml fake;
  fake->cards = {FakeNvmlCard{}, FakeNvmlCard{.bus = 2, .name = "Second"}};
  const NvmlFacts facts = read(fake, {"0000:02:00.0", "0000:07:00.0"});
  ASSERT_EQ(facts.cards.size(), 1U) << "a card that NVML does not have is left out";
  EXPECT_EQ(facts.cards.front().name, "Second");
  EXPECT_THAT(fake->woken, ElementsAre("0000:02:00.0"));
}

TEST(NvmlLibrary, ADividedCardAndItsSlices) {
  const LoadedNvml fake;
  fake->cards = {
      FakeNvmlCard{.divided = true,
                   .slices = {{.uuid = "MIG-1"}, {.uuid = "MIG-2", .memory = {9, 8, 1}}}},
      FakeNvmlCard{.bus = 2, .divided = false}};
  const NvmlFacts facts = read(fake);
  EXPECT_EQ(facts.cards.front().divided, true);
  ASSERT_EQ(facts.cards.front().slices.size(), 2U);
  EXPECT_EQ(facts.cards.front().slices.back().uuid, "MIG-2");
  EXPECT_EQ(facts.cards.front().slices.back().memory->free, 8U);
  EXPECT_EQ(facts.cards.back().divided, false);
  EXPECT_TRUE(facts.cards.back().slices.empty());
}

TEST(NvmlLibrary, AnOldOneTellsWhatItKnows) {
  const LoadedNvml fake("old");
  fake->cards = {FakeNvmlCard{.processes = {{.pid = 17, .bytes = 300}, {.pid = 18, .bytes = 5}}}};
  // Without the function by address all cards are asked.
  const NvmlFacts facts = read(fake, {"0000:07:00.0"});
  EXPECT_EQ(facts.cuda_version, 12040);
  ASSERT_EQ(facts.cards.size(), 1U);
  const NvmlCard& card = facts.cards.front();
  EXPECT_EQ(card.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(card.memory->free, 7ULL << 30);
  EXPECT_EQ(card.compute_major, 0);
  EXPECT_EQ(card.compute_mode, std::nullopt);
  EXPECT_EQ(card.divided, std::nullopt);
  ASSERT_EQ(card.processes.size(), 2U) << "entries of the first form are shorter";
  EXPECT_EQ(card.processes.back().pid, 18);
  EXPECT_EQ(card.processes.back().bytes, 5U);
}

TEST(NvmlLibrary, MemoryThatIsNotToldOfAProcess) {
  const LoadedNvml fake;
  fake->cards = {FakeNvmlCard{.processes = {{.pid = 17, .bytes = kNvmlNotAvailable}}}};
  const NvmlFacts facts = read(fake);
  ASSERT_EQ(facts.cards.front().processes.size(), 1U);
  EXPECT_EQ(facts.cards.front().processes.front().bytes, std::nullopt);
}

TEST(NvmlLibrary, ACardThatFailsIsTold) {
  const LoadedNvml fake;
  fake->cards = {FakeNvmlCard{.failure = NVML_ERROR_GPU_IS_LOST}, FakeNvmlCard{.bus = 2}};
  const NvmlFacts facts = read(fake, {"0000:01:00.0", "0000:02:00.0"});
  ASSERT_EQ(facts.cards.size(), 2U);
  EXPECT_EQ(facts.cards.front().pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(facts.cards.front().failure, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(facts.cards.front().memory, std::nullopt);
  EXPECT_EQ(facts.cards.back().failure, NVML_SUCCESS);
  EXPECT_TRUE(is_failure_of_card(NVML_ERROR_GPU_IS_LOST));
  EXPECT_FALSE(is_failure_of_card(NVML_ERROR_NO_PERMISSION));
}

// A question that fails leaves its own answer open, no other.
TEST(NvmlLibrary, AQuestionThatFails) {
  for (const char* function :
       {"nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2", "nvmlDeviceGetName",
        "nvmlDeviceGetUUID", "nvmlDeviceGetComputeMode", "nvmlDeviceGetMigMode",
        "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetPciInfo_v3"}) {
    const LoadedNvml fake;
    fake->cards = {FakeNvmlCard{.divided = true, .slices = {{}}, .processes = {{.pid = 3}}}};
    fake->failures[function] = NVML_ERROR_NOT_SUPPORTED;
    const NvmlFacts facts = read(fake);
    const NvmlCard& card = facts.cards.front();
    const int empty = static_cast<int>(facts.driver_release.empty()) + (facts.cuda_version == 0) +
                      card.name.empty() + card.uuid.empty() + !card.compute_mode + !card.divided +
                      (card.divided && card.slices.empty()) + (card.compute_major == 0) +
                      card.processes.empty() + card.pci_bus_id.empty();
    EXPECT_EQ(empty, 1) << function;
    EXPECT_TRUE(card.memory) << function;
  }
}

TEST(NvmlLibrary, TheCardsCannotBeCounted) {
  const LoadedNvml fake;
  fake->failures["nvmlDeviceGetCount_v2"] = NVML_ERROR_UNKNOWN;
  const auto nvml = Nvml::open(fake.search());
  ASSERT_TRUE(nvml);
  const auto facts = (*nvml)->read();
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message, HasSubstr("(NVML error 999)"));
}

TEST(NvmlLibrary, AnUpdateWithoutAReboot) {
  const LoadedNvml fake;
  fake->failures["nvmlInit_v2"] = NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  EXPECT_EQ(refusal(fake.search()),
            "starting NVML: the driver's library and the driver in the kernel are of different "
            "releases (NVML error 18); reboot, as after every update of the driver; in a "
            "container, restart it");
}

TEST(NvmlLibrary, AnErrorThatNobodyKnows) {
  const LoadedNvml fake;
  fake->failures["nvmlInit_v2"] = static_cast<NvmlResult>(4711);
  EXPECT_THAT(refusal(fake.search()), HasSubstr("does not know (NVML error 4711)"));
}

TEST(NvmlLibrary, IsNotInstalled) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(refusal({.file = {}, .places = {folder / "libnvidia-ml.so.1"}}),
              StartsWith("there is no libnvidia-ml.so.1; it comes with NVIDIA's driver"));
  EXPECT_THAT(refusal({.file = folder / "nvml.so", .places = {}}),
              StartsWith("there is no " + folder / "nvml.so"));
}

TEST(NvmlLibrary, IsAnotherLibrary) {
  EXPECT_THAT(refusal({.file = fake::fake_library("partial"), .places = {}}),
              HasSubstr("libfakecuda_partial.so is no NVML: it lacks nvmlInit_v2"));
  const test::TemporaryFolder folder;
  test::write_file(folder / "nvml.so", "no library");
  EXPECT_THAT(refusal({.file = folder / "nvml.so", .places = {}}), HasSubstr("cannot be loaded"));
}

TEST(NvmlErrors, AllHaveWordsAndARemedy) {
  for (int number = 1; number <= 20; ++number) {
    if (number == 5) {
      continue;  // no longer used by NVML
    }
    const Absence absence = explain_nvml(static_cast<NvmlResult>(number), "asking");
    EXPECT_THAT(absence.reason, StartsWith("asking: "));
    EXPECT_THAT(absence.reason, ::testing::Not(HasSubstr("does not know (")));
    EXPECT_NE(absence.remedy, "") << number;
  }
}

}  // namespace
}  // namespace mynah::gpu
