#include "doctor/binaries/device_code.h"

#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tiny_elf.h"
#include "tiny_fatbin.h"

namespace mynah::doctor {
namespace {

TEST(DeviceCode, UnitsWithTheSameImagesAreCountedTogether) {
  const test::TinyImage turing = {.architecture = 75};
  const test::TinyImage hopper = {.architecture = 90, .flags = 0x108011};
  const test::TinyImage text = {.kind = 1, .architecture = 90, .ptx_major = 8, .ptx_minor = 7};
  const test::TinyImage link_time = {.kind = 8, .architecture = 75};
  test::TinyElf elf;
  elf.sections = {{".nv_fatbin", test::fatbin_bytes({hopper}) + test::fatbin_bytes({turing, text}) +
                                     test::fatbin_bytes({text, turing, turing, link_time}) +
                                     test::fatbin_bytes({link_time})}};
  const test::TemporaryFolder folder;
  test::write_file(folder / "libtiny.so", test::elf_bytes(elf));
  const auto code = read_device_code(folder / "libtiny.so");
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(code->file, folder / "libtiny.so");
  ASSERT_EQ(code->units.size(), 2);
  EXPECT_EQ(code->units[0].count, 2);
  const DeviceImage machine_code = {false, 75, "", "", false};
  const DeviceImage ptx = {true, 90, "", "8.7", false};
  EXPECT_EQ(code->units[0].images, (std::vector<DeviceImage>{machine_code, ptx}));
  const DeviceImage specific = {false, 90, "a", "", true};
  EXPECT_EQ(code->units[1].images, (std::vector<DeviceImage>{specific}));
}

TEST(DeviceCode, AFileThatIsNotThereIsAnError) {
  EXPECT_EQ(read_device_code("/nowhere/libtiny.so").error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace mynah::doctor
