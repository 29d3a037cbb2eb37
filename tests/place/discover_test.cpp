#include "place/discovery/discover.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "gpu/fake_nvml/loaded_nvml.h"
#include "place/made_up_machine.h"

namespace mynah::place {
namespace {

using gpu::fake::FakeCard;
using gpu::fake::FakeNvmlCard;
using gpu::fake::LoadedFake;
using gpu::fake::LoadedNvml;
using test::MadeUpMachine;
using test::write_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// UUIDs that the fake driver gives its first and second card.
constexpr const char* kFirst = "GPU-10101010-1010-1010-1010-101010101010";
constexpr const char* kSecond = "GPU-11111111-1111-1111-1111-111111111111";

class Discover : public ::testing::Test {
 protected:
  Discover() {
    search_.gpus.root = machine_.root.path();
    search_.gpus.driver = {.file = {}, .places = {machine_.root / "libcuda.so.1"}};
    search_.nvml = {.file = {}, .places = {machine_.root / "libnvidia-ml.so.1"}};
    search_.cache_file = machine_.root / "cache/devices.json";
    search_.build = "test";
  }

  static std::vector<std::string> labels(const Discovery& found) {
    std::vector<std::string> names;
    names.reserve(found.devices.size());
    for (const DeviceFacts& device : found.devices) {
      names.push_back(device.label());
    }
    return names;
  }

  static const DeviceFacts& of(const Discovery& found, const std::string& label) {
    const auto device = std::ranges::find(found.devices, label, &DeviceFacts::label);
    if (device == found.devices.end()) {
      throw std::runtime_error("there is no " + label);
    }
    return *device;
  }

  static bool was_started(const LoadedFake& driver) {
    return std::ranges::count(driver->calls(), "cuInit", &gpu::fake::FakeCall::function) > 0;
  }

  // One of the system's cards, run by a driver that the search finds.
  void use(const LoadedFake& driver, const LoadedNvml& nvml) {
    machine_.add_card("0000:01:00.0", kFirst);
    search_.gpus.driver = driver.search();
    search_.nvml = nvml.search();
  }

  MadeUpMachine machine_;
  DiscoverySearch search_;
};

TEST_F(Discover, AMachineWithoutACard) {
  const Discovery found = discover(search_);
  EXPECT_THAT(labels(found), ElementsAre("cpu", "cuda", "ref", "simt:0"));
  const DeviceFacts& cpu = of(found, "cpu");
  EXPECT_EQ(cpu.model, "Made Up 9000");
  EXPECT_EQ(cpu.memory_total, 8'000'000ULL * 1024);
  EXPECT_EQ(cpu.memory_free, 6'000'000ULL * 1024);
  EXPECT_GE(cpu.cpu->cores, 1);
  EXPECT_NE(cpu.cpu->instruction_set, "");
  EXPECT_EQ(cpu.absence, std::nullopt);
  EXPECT_EQ(of(found, "cuda").absence->reason, "this machine has no NVIDIA card");
  EXPECT_EQ(of(found, "cuda").card, std::nullopt);
  EXPECT_EQ(found.no_memory_known, "") << "there is none to know";
  EXPECT_FALSE(std::filesystem::exists(search_.cache_file)) << "a failure is not kept";
}

TEST_F(Discover, WhereNothingOfACardIsToBeSeenItsDriverIsLeftAlone) {
  const LoadedFake driver;
  const std::string file = driver.search().file;
  search_.gpus.driver = {.file = {}, .places = {file}};
  EXPECT_THAT(labels(discover(search_)), ElementsAre("cpu", "cuda", "ref", "simt:0"));
  EXPECT_FALSE(was_started(driver));
  write_file(machine_.root / "dev/nvmap", "");
  EXPECT_THAT(labels(discover(search_)), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
  EXPECT_TRUE(was_started(driver)) << "a system on a chip has no card on PCI";
}

TEST_F(Discover, ADriverThatIsNamedIsAskedWhateverIsToBeSeen) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  search_.gpus.driver = driver.search();
  search_.nvml = nvml.search();
  const Discovery found = discover(search_);
  EXPECT_THAT(labels(found), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
  EXPECT_EQ(of(found, "cuda:0").memory_free, std::nullopt);
  EXPECT_THAT(found.no_memory_known, HasSubstr("none of the machine's own cards"));
}

TEST_F(Discover, ACardWithItsFacts) {
  const LoadedFake driver(
      12000,
      {.cards = {FakeCard{.attributes = {{gpu::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 1}}}}});
  const LoadedNvml nvml;
  nvml->cards = {FakeNvmlCard{.compute_mode = gpu::CU_COMPUTEMODE_PROHIBITED,
                              .processes = {{.pid = 7, .bytes = 1000}}}};
  use(driver, nvml);
  write_file(machine_.root / ".dockerenv", "");
  const Discovery found = discover(search_);
  EXPECT_THAT(labels(found), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
  EXPECT_FALSE(found.cached);
  const DeviceFacts& device = of(found, "cuda:0");
  EXPECT_EQ(device.model, "Fake RTX");
  EXPECT_EQ(device.absence, std::nullopt);
  EXPECT_EQ(device.memory_total, 8ULL << 30);
  EXPECT_EQ(device.memory_free, 7ULL << 30);
  const CardFacts& card = *device.card;
  EXPECT_EQ(card.device.uuid, kFirst);
  EXPECT_EQ(card.device.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(card.device.compute_major, 8);
  EXPECT_EQ(card.driver_version, 12000);
  EXPECT_EQ(card.driver_release, "550.54.14") << "by NVML: the fake's file has no such name";
  EXPECT_EQ(card.kernel_release, "550.54.14");
  EXPECT_TRUE(card.device.launch_timeout);
  EXPECT_TRUE(card.container);
  EXPECT_FALSE(card.wsl);
  EXPECT_EQ(card.device.compute_mode, gpu::CU_COMPUTEMODE_PROHIBITED) << "as NVML has it now";
  ASSERT_EQ(card.processes.size(), 1U);
  EXPECT_EQ(found.no_memory_known, "");
  EXPECT_EQ(driver->in_use().retains, 0) << "no context";
}

TEST_F(Discover, WithoutNvmlFreeMemoryIsNotKnown) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  search_.nvml = {.file = {}, .places = {}};
  const Discovery found = discover(search_);
  EXPECT_EQ(of(found, "cuda:0").memory_total, 8ULL << 30);
  EXPECT_EQ(of(found, "cuda:0").memory_free, std::nullopt);
  EXPECT_THAT(found.no_memory_known, StartsWith("there is no libnvidia-ml.so.1; "));
}

TEST_F(Discover, TheSecondTimeTheDriverIsNotStarted) {
  const LoadedFake driver(13000, {.cards = {FakeCard{}, FakeCard{.name = "Second"}}});
  const LoadedNvml nvml;
  use(driver, nvml);
  const Discovery first = discover(search_);
  EXPECT_TRUE(was_started(driver));
  driver->clear_calls();
  nvml->cards.front().memory.free = 5;
  const Discovery second = discover(search_);
  EXPECT_TRUE(second.cached);
  EXPECT_FALSE(was_started(driver));
  EXPECT_EQ(labels(second), labels(first));
  EXPECT_EQ(of(second, "cuda:1").model, "Second");
  for (const char* name : {"cuda:0", "cuda:1"}) {
    EXPECT_EQ(of(second, name).card->device, of(first, name).card->device);
    EXPECT_LT(of(second, name).card->device.handle, 0) << "not to be computed on";
  }
  EXPECT_EQ(of(second, "cuda:0").card->driver_version, 13000);
  EXPECT_EQ(of(second, "cuda:0").memory_free, 5U) << "free memory is asked each time";
}

TEST_F(Discover, WithoutACacheTheDriverIsStartedEachTime) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  search_.cache_file.clear();
  static_cast<void>(discover(search_));
  driver->clear_calls();
  EXPECT_FALSE(discover(search_).cached);
  EXPECT_TRUE(was_started(driver));
}

TEST_F(Discover, AFolderThatCannotBeWrittenCostsNothingElse) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  search_.cache_file = "/proc/no-such-folder/devices.json";
  EXPECT_THAT(labels(discover(search_)), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
}

// Each thing that the driver's answer depends on makes it asked again.
TEST_F(Discover, WhatMakesTheCacheStale) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  const std::string& root = machine_.root.path();
  const std::vector<std::pair<const char*, std::function<void()>>> changes = {
      {"another start of the machine",
       [&] { write_file(root + "/proc/sys/kernel/random/boot_id", "second\n"); }},
      {"a suspend", [&] { write_file(root + "/sys/power/suspend_stats/success", "1\n"); }},
      {"another driver in the kernel",
       [&] { write_file(root + "/sys/module/nvidia/version", "560.28.03\n"); }},
      {"another card", [&] { machine_.add_pci("0000:02:00.0", ""); }},
      {"a driver for it",
       [&] {
         std::filesystem::create_symlink("../../drivers/nvidia",
                                         root + "/sys/bus/pci/devices/0000:02:00.0/driver");
       }},
      {"a card that the kernel's driver runs",
       [&] { write_file(root + "/proc/driver/nvidia/gpus/0000:02:00.0/information", ""); }},
      {"another node", [&] { write_file(root + "/dev/nvidia1", ""); }},
      {"another slice",
       [&] { write_file(root + "/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", ""); }},
      {"other visible devices", [&] { search_.gpus.visible_devices = "0"; }},
      {"all of them hidden", [&] { search_.gpus.visible_devices = ""; }},
      {"another order of devices", [&] { search_.variables = "CUDA_DEVICE_ORDER=PCI_BUS_ID"; }},
      {"another program", [&] { search_.build = "another"; }},
      {"other libraries", [&] { write_file(root + "/etc/ld.so.cache", "new"); }},
      {"a container", [&] { write_file(root + "/.dockerenv", ""); }},
  };
  for (const auto& [what, change] : changes) {
    static_cast<void>(discover(search_));
    ASSERT_TRUE(discover(search_).cached) << "before: " << what;
    change();
    EXPECT_FALSE(discover(search_).cached) << what;
  }
}

TEST_F(Discover, AnotherFileOfTheDriversLibrary) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  const std::string library = machine_.root / "libcuda.so.550.54.14";
  std::filesystem::copy_file(driver.path(), library);
  search_.gpus.driver = {.file = {}, .places = {library}};
  static_cast<void>(discover(search_));
  ASSERT_TRUE(discover(search_).cached);
  const auto changed = std::filesystem::last_write_time(library);
  std::filesystem::last_write_time(library, changed + std::chrono::seconds(1));
  EXPECT_FALSE(discover(search_).cached) << "installed again";
  ASSERT_TRUE(discover(search_).cached);
  std::filesystem::remove(library);
  const Discovery found = discover(search_);
  EXPECT_FALSE(found.cached) << "removed";
  EXPECT_NE(of(found, "0000:01:00.0").absence, std::nullopt);
}

TEST_F(Discover, ADamagedCacheIsAskedAgainAndWrittenAnew) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  static_cast<void>(discover(search_));
  const std::string good = test::read_file(search_.cache_file);
  for (const std::string& damaged : {std::string(), std::string("\0\0\0", 3), good.substr(0, 40),
                                     good.substr(0, good.size() - 1), good + " "}) {
    write_file(search_.cache_file, damaged);
    EXPECT_FALSE(discover(search_).cached) << damaged.size() << " bytes";
    EXPECT_EQ(test::read_file(search_.cache_file), good);
  }
}

TEST_F(Discover, AFailureOfTheDriverIsAskedAgain) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  driver->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_SYSTEM_NOT_READY});
  const Discovery failed = discover(search_);
  EXPECT_THAT(labels(failed), ElementsAre("cpu", "0000:01:00.0", "ref", "simt:0"));
  const DeviceFacts& card = of(failed, "0000:01:00.0");
  EXPECT_EQ(card.name, "");
  EXPECT_EQ(card.model, "NVIDIA Fake");
  EXPECT_EQ(card.card->device.uuid, kFirst);
  EXPECT_THAT(card.absence->remedy, HasSubstr("nvidia-fabricmanager"));
  EXPECT_EQ(card.memory_free, 7ULL << 30) << "NVML tells it all the same";
  EXPECT_EQ(card.card->device.compute_major, 8);
  EXPECT_THAT(labels(discover(search_)), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
}

TEST_F(Discover, CardsThatTheDriverDoesNotShow) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  machine_.add_pci("0000:02:00.0", "nouveau");
  machine_.add_pci("0000:03:00.0", "vfio-pci");
  const Discovery found = discover(search_);
  EXPECT_THAT(labels(found),
              ElementsAre("cpu", "cuda:0", "0000:02:00.0", "0000:03:00.0", "ref", "simt:0"));
  EXPECT_THAT(of(found, "0000:02:00.0").absence->reason, HasSubstr("(the driver nouveau has it)"));
  EXPECT_THAT(of(found, "0000:03:00.0").absence->reason, HasSubstr("virtual machine"));
  EXPECT_THAT(nvml->woken, ElementsAre("0000:01:00.0")) << "the others are not NVIDIA's driver's";
}

TEST_F(Discover, CardsThatTheVariableHides) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  machine_.add_card("0000:02:00.0", kSecond);
  search_.gpus.visible_devices = "0";
  const Discovery found = discover(search_);
  EXPECT_EQ(of(found, "0000:02:00.0").absence->reason,
            "CUDA_VISIBLE_DEVICES='0' shows 1 of 2 cards");
  EXPECT_EQ(of(found, "0000:02:00.0").absence->remedy, "unset it, or name in it what is wanted");
}

TEST_F(Discover, ANodeThatIsNotAllowed) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  use(driver, nvml);
  std::filesystem::remove(machine_.root / "dev/nvidia-uvm");
  driver->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_UNKNOWN});
  const Discovery found = discover(search_);
  EXPECT_THAT(of(found, "0000:01:00.0").absence->reason,
              StartsWith("the driver's node /dev/nvidia-uvm does not exist"));
  EXPECT_THAT(of(found, "0000:01:00.0").absence->remedy, HasSubstr("nvidia-modprobe"));
}

TEST_F(Discover, AContainerSeesItsOwnCardsAlone) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  search_.gpus.driver = driver.search();
  search_.nvml = nvml.search();
  machine_.add_pci("0000:01:00.0");
  machine_.add_pci("0000:02:00.0");
  write_file(machine_.root / ".dockerenv", "");
  write_file(machine_.root / "dev/nvidiactl", "");
  const Discovery found = discover(search_);
  EXPECT_THAT(labels(found), ElementsAre("cpu", "cuda:0", "ref", "simt:0"));
  EXPECT_THAT(nvml->woken, ElementsAre("0000:01:00.0"));
}

TEST_F(Discover, AContainerThatWasGivenNoCard) {
  machine_.add_pci("0000:01:00.0");
  write_file(machine_.root / ".dockerenv", "");
  const Discovery found = discover(search_);
  EXPECT_THAT(of(found, "0000:01:00.0").absence->reason,
              StartsWith("this container was given no NVIDIA card"));
}

TEST_F(Discover, ASleepingCardIsNotWoken) {
  const LoadedFake driver(13000, {.cards = {FakeCard{}, FakeCard{}}});
  const LoadedNvml nvml;
  use(driver, nvml);
  nvml->cards.push_back(FakeNvmlCard{.bus = 2, .uuid = kSecond});
  machine_.add_card("0000:02:00.0", kSecond);
  static_cast<void>(discover(search_));
  machine_.put_to_sleep("0000:01:00.0");
  driver->clear_calls();
  nvml->woken.clear();
  const Discovery one = discover(search_);
  EXPECT_TRUE(one.cached);
  EXPECT_THAT(nvml->woken, ElementsAre("0000:02:00.0"));
  EXPECT_TRUE(of(one, "cuda:0").card->asleep);
  EXPECT_EQ(of(one, "cuda:0").memory_free, std::nullopt);
  EXPECT_EQ(of(one, "cuda:1").memory_free, 7ULL << 30);

  machine_.put_to_sleep("0000:02:00.0");
  nvml->calls.clear();
  const Discovery both = discover(search_);
  EXPECT_THAT(nvml->calls, IsEmpty());
  EXPECT_THAT(both.no_memory_known, HasSubstr("would wake the card"));
  EXPECT_FALSE(was_started(driver));
}

TEST_F(Discover, ASliceHasItsOwnMemory) {
  const LoadedFake driver(13000,
                          {.cards = {FakeCard{.name = "H200 MIG 1g.18gb", .slice_uuid = 0x5C}}});
  const LoadedNvml nvml;
  use(driver, nvml);
  nvml->cards = {FakeNvmlCard{
      .divided = true,
      .slices = {{.uuid = "MIG-another"},
                 {.uuid = "MIG-5c5c5c5c-5c5c-5c5c-5c5c-5c5c5c5c5c5c", .memory = {20, 15, 5}}}}};
  const Discovery found = discover(search_);
  EXPECT_EQ(of(found, "cuda:0").memory_free, 15U);
  EXPECT_EQ(of(found, "cuda:0").memory_total, 20U);
  EXPECT_EQ(of(found, "cuda:0").card->slices, 2U);
  EXPECT_TRUE(of(found, "cuda:0").card->device.mig);
}

TEST_F(Discover, UnderWsl) {
  const LoadedFake driver;
  const LoadedNvml nvml;
  search_.gpus.driver = driver.search();
  search_.nvml = nvml.search();
  write_file(machine_.root / "dev/dxg", "");
  const Discovery found = discover(search_);
  EXPECT_TRUE(of(found, "cuda:0").card->wsl);
  EXPECT_EQ(of(found, "cuda:0").memory_free, 7ULL << 30);
}

}  // namespace
}  // namespace mynah::place
