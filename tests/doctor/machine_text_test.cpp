#include "doctor/machine/machine_text.h"

#include <gtest/gtest.h>

namespace mynah::doctor {

TEST(MachineText, RecordsOfTheKernelAreReadAsTheirMessages) {
  const std::vector<std::string> lines = kernel_lines(
      "6,100,5000,-;usb 1-1: new device\n SUBSYSTEM=usb\n"
      "3,1234,5060707,-;NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', GPU has fallen off\n"
      " SUBSYSTEM=pci\n"
      "4,1235,1,-;NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)\\x0aNVRM: installed in\n"
      "5,1236,1,c;nvidia: Loading of unsigned module is rejected\n"
      "[    5.559858] NVRM: GPU 0000:02:00.0: RmInitAdapter failed!\x01\n"
      "               NVRM: installed in this system\n");
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', GPU has fallen off",
                       "NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58) NVRM: installed in",
                       "nvidia: Loading of unsigned module is rejected",
                       "[    5.559858] NVRM: GPU 0000:02:00.0: RmInitAdapter failed!?",
                       "NVRM: installed in this system"}));
}

TEST(MachineText, OnlyTheNewestLinesAreKept) {
  std::string log;
  for (int i = 0; i < 500; ++i) {
    log += "NVRM: " + std::to_string(i) + "\n";
  }
  const std::vector<std::string> lines = kernel_lines(log);
  ASSERT_EQ(lines.size(), kMostKernelLines);
  EXPECT_EQ(lines.back(), "NVRM: 499");
}

TEST(MachineText, AnXidIsReadWithItsCard) {
  EXPECT_EQ(read_xid("NVRM: Xid (PCI:0000:01:00): 79, pid=1"),
            (Xid{.number = 79, .pci = "0000:01:00"}));
  EXPECT_EQ(read_xid("kernel: NVRM: Xid (0000:08:00): 31, Ch 3"),
            (Xid{.number = 31, .pci = "0000:08:00"}));
  EXPECT_FALSE(read_xid("NVRM: Xid (PCI:0000:01:00): none"));
  EXPECT_FALSE(read_xid("NVRM: Xid (PCI:0000:01:00)"));
}

TEST(MachineText, NvidiasReleaseIsInTheLastDigitsOfADisplayDriversVersion) {
  EXPECT_EQ(windows_driver_release("[Version]\r\nDriverVer = 10/08/2025, 32.0.15.8195\r\n"),
            "581.95");
  EXPECT_EQ(windows_driver_release("DriverVer=05/01/2023,31.0.15.3179"), "531.79");
  EXPECT_EQ(windows_driver_release("driverver = 09/13/2020, 27.21.14.5671"), "456.71");
  EXPECT_EQ(windows_driver_release("DriverVer = 1/1/2024, 32.0.15.6003"), "560.03");
  std::string wide("\xff\xfe", 2);
  for (const char c : std::string("[Version]\r\nDriverVer = 10/08/2025, 32.0.15.8195\r\n")) {
    wide += c;
    wide += '\0';
  }
  EXPECT_EQ(windows_driver_release(wide), "581.95");
  // Of sound and of virtual devices, and what is no version.
  EXPECT_EQ(windows_driver_release("DriverVer = 06/13/2024, 1.4.2.6"), "");
  EXPECT_EQ(windows_driver_release("DriverVer = 06/13/2024, 4.65.0.7"), "");
  EXPECT_EQ(windows_driver_release("DriverVer = 06/13/2024"), "");
  EXPECT_EQ(windows_driver_release("DriverVer = , "), "");
  EXPECT_EQ(windows_driver_release(""), "");
}

TEST(MachineText, ADeviceIsNamedOnlyBelowItsVendor) {
  constexpr std::string_view kList =
      "1000  One\n\t2684  Wrong\n10de  NVIDIA Corporation\n\t2684  AD102 [GeForce RTX 4090]\n"
      "\t\t10de 2685  Sub\n8086  Intel\n\t2685  Other\n";
  EXPECT_EQ(pci_name(kList, "10de", "2684"), "AD102 [GeForce RTX 4090]");
  EXPECT_EQ(pci_name(kList, "10de", "2685"), "");
  EXPECT_EQ(sold_as("AD102 [GeForce RTX 4090]"), "GeForce RTX 4090");
  EXPECT_EQ(sold_as("Plain"), "Plain");
}

TEST(MachineText, SettingsAreReadAsTheirFilesHaveThem) {
  EXPECT_EQ(setting_of("ID=debian\nPRETTY_NAME='A \"B\"'\n", "PRETTY_NAME"), "A \"B\"");
  EXPECT_EQ(setting_of("PRETTY_NAME", "PRETTY_NAME"), "");
  EXPECT_EQ(docker_runtimes(R"({"runtimes": {"nvidia": {}, "runc": {}}})"),
            (std::vector<std::string>{"nvidia", "runc"}));
  EXPECT_TRUE(docker_runtimes("{").empty());
  EXPECT_TRUE(docker_runtimes(R"({"runtimes": []})").empty());
  EXPECT_EQ(module_option("# options nvidia X=0\noptions nvidia NVreg_A=1 NVreg_B=2\n", "NVreg_B"),
            "2");
  EXPECT_EQ(module_option("options nvidia XNVreg_B=2\n", "NVreg_B"), "");
}

}  // namespace mynah::doctor
