#include "gpu/devices.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "temporary_folder.h"

namespace mynah::gpu {
namespace {

using fake::FakeCard;
using fake::LoadedFake;
using test::TemporaryFolder;
using test::write_file;
using ::testing::HasSubstr;

// An H200, as NVIDIA's data sheet and deviceQuery's output have it.
const FakeCard kH200 = {.name = "NVIDIA H200",
                        .compute_major = 9,
                        .compute_minor = 0,
                        .memory_bytes = uint64_t{141} << 30,
                        .pci_bus_id = "0000:C1:00.0",
                        .uuid = 0xAB,
                        .slice_uuid = {},
                        .attributes = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                       {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3'201'000},
                                       {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144}}};

TEST(Devices, AreListedWithTheirFactsAndWithoutAContext) {
  const LoadedFake fake(13000, {.cards = {kH200, FakeCard{}}});
  const auto devices = list_devices(*fake.driver());
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2U);
  const GpuDevice& device = devices->front();
  EXPECT_EQ(device.index, 0);
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.uuid, "GPU-abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(device.pci_bus_id, "0000:c1:00.0");
  EXPECT_EQ(device.compute_major, 9);
  EXPECT_EQ(device.compute_minor, 0);
  EXPECT_EQ(device.multiprocessors, 132);
  EXPECT_EQ(device.memory_bytes, uint64_t{141} << 30);
  EXPECT_EQ(device.shared_bytes_per_block, 227 << 10);
  EXPECT_EQ(device.shared_bytes_per_multiprocessor, 228 << 10);
  EXPECT_TRUE(device.memory_pools);
  EXPECT_FALSE(device.mig);
  EXPECT_FALSE(device.integrated);
  EXPECT_FALSE(device.launch_timeout);
  EXPECT_EQ(device.compute_mode, CU_COMPUTEMODE_DEFAULT);
  EXPECT_NEAR(device.theoretical_bandwidth(), 4.917e12, 1e9);
  EXPECT_EQ(devices->back().index, 1);
  EXPECT_EQ(devices->back().pci_bus_id, "0000:02:00.0");
  for (const fake::FakeCall& call : fake->calls()) {
    EXPECT_THAT(call.function, ::testing::AnyOf(::testing::StartsWith("cuDevice"), "cuInit",
                                                "cuDriverGetVersion"));
    EXPECT_NE(call.function, "cuDevicePrimaryCtxRetain");
  }
}

TEST(Devices, AMigSliceHasAUuidOfItsOwn) {
  FakeCard slice = kH200;
  slice.name = "NVIDIA H200 MIG 1g.18gb";
  slice.slice_uuid = 0x5C;
  const LoadedFake fake(12000, {.cards = {slice}});
  const auto devices = list_devices(*fake.driver());
  ASSERT_TRUE(devices);
  EXPECT_TRUE(devices->front().mig);
  EXPECT_EQ(devices->front().uuid, "MIG-5c5c5c5c-5c5c-5c5c-5c5c-5c5c5c5c5c5c");
}

TEST(Devices, AnOldDriverKnowsNeitherSlicesNorPools) {
  FakeCard slice = kH200;
  slice.slice_uuid = 0x5C;
  const LoadedFake fake(11000, {.cards = {slice}});
  const auto devices = list_devices(*fake.driver());
  ASSERT_TRUE(devices);
  EXPECT_FALSE(devices->front().mig);
  EXPECT_EQ(devices->front().uuid, "GPU-abababab-abab-abab-abab-abababababab");
  EXPECT_FALSE(devices->front().memory_pools);

  // Its name tells a slice all the same.
  slice.name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
  fake->reset({.cards = {slice}});
  EXPECT_TRUE(list_devices(*fake.driver())->front().mig);
}

TEST(Devices, PoolsAreTheDevicesAbilityToo) {
  FakeCard card;
  card.attributes[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 0;
  card.attributes[CU_DEVICE_ATTRIBUTE_INTEGRATED] = 1;
  card.attributes[CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT] = 1;
  card.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  const LoadedFake fake(11020, {.cards = {card}});
  const auto devices = list_devices(*fake.driver());
  ASSERT_TRUE(devices);
  EXPECT_FALSE(devices->front().memory_pools);
  EXPECT_TRUE(devices->front().integrated);
  EXPECT_TRUE(devices->front().launch_timeout);
  EXPECT_EQ(devices->front().compute_mode, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
}

TEST(Devices, NoneIsAnEmptyList) {
  const LoadedFake fake(13000, {.cards = {}});
  const auto devices = list_devices(*fake.driver());
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_TRUE(devices->empty());
}

TEST(Devices, AQuestionThatFailsNamesWhatWasAsked) {
  const LoadedFake fake(13000, {.cards = {FakeCard{}, FakeCard{}}});
  const auto driver = fake.driver();
  fake->fail({.function = "cuDeviceTotalMem", .result = CUDA_ERROR_UNKNOWN, .nth = 2});
  const auto devices = list_devices(*driver);
  ASSERT_FALSE(devices);
  EXPECT_THAT(devices.error().message,
              HasSubstr("asking for the memory of cuda:1: CUDA_ERROR_UNKNOWN"));
  // Nothing was asked after the failure.
  EXPECT_EQ(fake->calls().back().function, "cuDeviceTotalMem");
}

TEST(FindGpus, GivesDriverAndDevices) {
  const TemporaryFolder root;
  const LoadedFake fake(12000, {.cards = {kH200}});
  const auto gpus =
      find_gpus({.driver = fake.search(), .visible_devices = {}, .root = root.path()});
  ASSERT_TRUE(gpus) << gpus.error().message;
  EXPECT_EQ(gpus->driver->version(), 12000);
  EXPECT_EQ(gpus->devices.front().name, "NVIDIA H200");
  EXPECT_EQ(gpus->hidden, "");
}

TEST(FindGpus, SaysWhatTheVariableHides) {
  const TemporaryFolder root;
  for (const char* card : {"0000:01:00.0", "0000:02:00.0"}) {
    write_file(root / (std::string("proc/driver/nvidia/gpus/") + card + "/information"), "");
  }
  const LoadedFake fake(12000, {.cards = {kH200}});
  const auto some =
      find_gpus({.driver = fake.search(), .visible_devices = "1", .root = root.path()});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->hidden, "CUDA_VISIBLE_DEVICES='1' shows 1 of 2 cards");

  fake->reset({.cards = {}});
  const auto none =
      find_gpus({.driver = fake.search(), .visible_devices = "7", .root = root.path()});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("hides every card: there is no card 7"));
}

TEST(FindGpus, SaysWhichCardIsLeftOut) {
  const TemporaryFolder root;
  write_file(root / "sys/module/nvidia/version", "590.44.01\n");
  for (const char* card : {"0000:c1:00.0", "0000:c2:00.0"}) {
    write_file(root / (std::string("sys/bus/pci/devices/") + card + "/vendor"), "0x10de\n");
    write_file(root / (std::string("sys/bus/pci/devices/") + card + "/class"), "0x030200\n");
  }
  const LoadedFake fake(13000, {.cards = {kH200}});
  const auto gpus =
      find_gpus({.driver = fake.search(), .visible_devices = {}, .root = root.path()});
  ASSERT_TRUE(gpus);
  EXPECT_THAT(gpus->hidden,
              HasSubstr("NVIDIA's driver 590.44.01 does not run the NVIDIA card at 0000:c2:00.0"));
}

TEST(FindGpus, SaysWhyTheDriverDoesNotStart) {
  const TemporaryFolder root;
  write_file(root / "sys/module/nvidia/version", "550.54.14\n");
  write_file(root / "dev/nvidiactl", "");
  const LoadedFake fake(12000);
  fake->fail({.function = "cuInit", .result = CUDA_ERROR_UNKNOWN});
  const auto gpus =
      find_gpus({.driver = fake.search(), .visible_devices = {}, .root = root.path()});
  ASSERT_FALSE(gpus);
  EXPECT_THAT(gpus.error().message, HasSubstr("the driver's node /dev/nvidia-uvm does not exist"));
  EXPECT_THAT(gpus.error().message, HasSubstr("(cuInit answers 999)"));
}

TEST(FindGpus, SaysWhyThereIsNoDriver) {
  const TemporaryFolder root;
  const auto gpus = find_gpus({.driver = {.file = {}, .places = {root / "libcuda.so.1"}},
                               .visible_devices = {},
                               .root = root.path()});
  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.error().message, "this machine has no NVIDIA card");
  EXPECT_EQ(exit_code(gpus.error().code), 3);
}

}  // namespace
}  // namespace mynah::gpu
