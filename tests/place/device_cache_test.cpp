#include "place/discovery/device_cache.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace mynah::place {
namespace {

using test::TemporaryFolder;
using test::write_file;

// Every field has a value that it has not by itself.
CachedAnswer example() {
  gpu::GpuDevice device;
  device.index = 1;
  device.name = "NVIDIA \"H200\"";
  device.uuid = "GPU-1";
  device.pci_bus_id = "0000:c1:00.0";
  device.compute_major = 9;
  device.compute_minor = 1;
  device.multiprocessors = 132;
  device.memory_bytes = uint64_t{141} << 30;
  device.shared_bytes_per_block = 1;
  device.shared_bytes_per_multiprocessor = 2;
  device.l2_bytes = 3;
  device.memory_clock_khz = 4;
  device.memory_bus_bits = 5;
  device.integrated = true;
  device.mig = true;
  device.memory_pools = true;
  device.launch_timeout = true;
  device.compute_mode = gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  return {.key = "a\nkey",
          .library = "/lib/libcuda.so.1",
          .answer = {.version = 12040,
                     .release = "550.54.14",
                     .path = "/lib/libcuda.so.1",
                     .devices = {device, gpu::GpuDevice{}}}};
}

TEST(DeviceCache, ComesBackAsItWas) {
  const CachedAnswer written = example();
  const auto read = read_answer(write_answer(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, written.key);
  EXPECT_EQ(read->library, written.library);
  EXPECT_EQ(read->answer, written.answer);
}

TEST(DeviceCache, AnyByteThatIsWrongMakesItWorthless) {
  const std::string good = write_answer(example());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(read_answer(bad)) << i;
    EXPECT_FALSE(read_answer(good.substr(0, i))) << i;
  }
  EXPECT_FALSE(read_answer(good + "\n"));
  EXPECT_FALSE(read_answer(std::string(2 << 20, 'x')));
}

// With a good checksum, as a program that is not this one may write it.
TEST(DeviceCache, AValueThatCannotBeMakesItWorthless) {
  const auto with = [](auto&& change) {
    CachedAnswer cached = example();
    change(cached.answer);
    return read_answer(write_answer(cached)).has_value();
  };
  EXPECT_TRUE(with([](DriverAnswer&) {}));
  EXPECT_FALSE(with([](DriverAnswer& answer) { answer.devices.clear(); }));
  EXPECT_FALSE(with([](DriverAnswer& answer) { answer.version = -1; }));
  EXPECT_FALSE(with([](DriverAnswer& answer) { answer.devices[0].l2_bytes = -1; }));
  EXPECT_FALSE(with([](DriverAnswer& answer) { answer.devices.resize(1000); }));
  EXPECT_FALSE(with([](DriverAnswer& answer) {
    answer.devices[1].compute_mode = static_cast<gpu::CUcomputemode>(9);
  }));
}

TEST(DeviceCache, ANameThatIsNoTextIsNotTheEnd) {
  CachedAnswer cached = example();
  cached.answer.devices[0].name = "\xff\xfe";
  const auto read = read_answer(write_answer(cached));
  ASSERT_TRUE(read);
  EXPECT_NE(read->answer.devices[0].name, "");
}

TEST(DeviceCache, IsFoundByItsKeyAndLibrary) {
  const TemporaryFolder folder;
  const std::string file = folder / "new/folder/devices.json";
  EXPECT_FALSE(find_answer(file, "key")) << "there is none yet";
  DriverAnswer answer = example().answer;
  answer.path = folder / "libcuda.so.1";
  write_file(answer.path, "a driver");
  ASSERT_TRUE(keep_answer(file, "key", answer));
  EXPECT_EQ(find_answer(file, "key"), answer);
  EXPECT_FALSE(find_answer(file, "another key"));
  write_file(answer.path, "another driver");
  EXPECT_FALSE(find_answer(file, "key"));
}

TEST(DeviceCache, SaysWhereItCannotBeKept) {
  const Status kept = keep_answer("/proc/no/devices.json", "key", example().answer);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::Io);
}

TEST(FileStamp, TellsOneFileFromAnother) {
  const TemporaryFolder folder;
  EXPECT_EQ(file_stamp(folder / "none"), folder / "none");
  write_file(folder / "one", "1");
  write_file(folder / "two", "1");
  std::filesystem::create_symlink("one", folder / "link");
  EXPECT_EQ(file_stamp(folder / "link"), file_stamp(folder / "one"));
  EXPECT_NE(file_stamp(folder / "one"), file_stamp(folder / "two"));
  const std::string before = file_stamp(folder / "one");
  std::filesystem::resize_file(folder / "one", 5);
  EXPECT_NE(file_stamp(folder / "one"), before);
}

}  // namespace
}  // namespace mynah::place
