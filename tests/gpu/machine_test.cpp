#include "gpu/machine.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace mynah::gpu {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::write_file;

// A PCI function below `root`.
void add_pci(const TemporaryFolder& root, const std::string& address, const std::string& vendor,
             const std::string& kind, const std::string& driver) {
  const std::string folder = root / ("sys/bus/pci/devices/" + address);
  write_file(folder + "/vendor", vendor + "\n");
  write_file(folder + "/class", kind + "\n");
  if (!driver.empty()) {
    fs::create_directories(root / ("sys/bus/pci/drivers/" + driver));
    fs::create_symlink("../../drivers/" + driver, folder + "/driver");
  }
}

TEST(Machine, AnEmptyOneHasNothing) {
  const TemporaryFolder root;
  const Machine machine = read_machine(root.path());
  EXPECT_TRUE(machine.pci_cards.empty());
  EXPECT_TRUE(machine.kernel_cards.empty());
  EXPECT_TRUE(machine.card_nodes.empty());
  EXPECT_EQ(machine.kernel_driver, "");
  EXPECT_EQ(machine.control_node, NodeState::Missing);
  EXPECT_EQ(machine.uvm_node, NodeState::Missing);
  EXPECT_FALSE(machine.wsl);
  EXPECT_FALSE(machine.container);
}

TEST(Machine, CardsAreDisplayAndComputeFunctionsOfTheVendor) {
  const TemporaryFolder root;
  add_pci(root, "0000:01:00.0", "0x10de", "0x030000", "nvidia");
  add_pci(root, "0000:01:00.1", "0x10de", "0x040300", "snd_hda_intel");
  add_pci(root, "0000:02:00.0", "0x1002", "0x030000", "amdgpu");
  add_pci(root, "0000:03:00.0", "0x10de", "0x068000", "nvidia-nvswitch");
  add_pci(root, "0000:04:00.0", "0x10de", "0x030200", "");
  const Machine machine = read_machine(root.path());
  ASSERT_EQ(machine.pci_cards.size(), 2U);
  EXPECT_EQ(machine.pci_cards[0].address, "0000:01:00.0");
  EXPECT_EQ(machine.pci_cards[0].driver, "nvidia");
  EXPECT_EQ(machine.pci_cards[1].address, "0000:04:00.0");
  EXPECT_EQ(machine.pci_cards[1].driver, "");
}

TEST(Machine, TheKernelsListOfAllDevicesSaysWhetherOneIsOfTheVendor) {
  const TemporaryFolder root;
  add_pci(root, "0000:01:00.0", "0x10de", "0x030000", "nvidia");
  write_file(root / "proc/bus/pci/devices",
             "0000\t80860d57\t0\t       10de0000\n0100\t10de2204\t1f\t0\tnvidia\n");
  EXPECT_EQ(read_machine(root.path()).pci_cards.size(), 1U);
  write_file(root / "proc/bus/pci/devices", "0000\t80860d57\t0\t       10de0000\n");
  EXPECT_TRUE(read_machine(root.path()).pci_cards.empty()) << "an address is no vendor";
}

TEST(Machine, ShowsACardByAnySign) {
  const TemporaryFolder root;
  EXPECT_FALSE(read_machine(root.path()).shows_card());
  write_file(root / "dev/nvmap", "");
  EXPECT_TRUE(read_machine(root.path()).shows_card());
  const TemporaryFolder other;
  add_pci(other, "0000:01:00.0", "0x10de", "0x030000", "");
  EXPECT_TRUE(read_machine(other.path()).shows_card());
  const TemporaryFolder nodes;
  write_file(nodes / "dev/nvidia0", "");
  EXPECT_TRUE(read_machine(nodes.path()).shows_card());
}

TEST(Machine, ACardThatThePowerManagementPutToSleep) {
  const TemporaryFolder root;
  add_pci(root, "0000:01:00.0", "0x10de", "0x030000", "nvidia");
  EXPECT_FALSE(read_machine(root.path()).pci_cards.front().asleep);
  const std::string status = root / "sys/bus/pci/devices/0000:01:00.0/power/runtime_status";
  write_file(status, "active\n");
  EXPECT_FALSE(read_machine(root.path()).pci_cards.front().asleep);
  write_file(status, "suspended\n");
  EXPECT_TRUE(read_machine(root.path()).pci_cards.front().asleep);
}

TEST(Machine, ComputeInstancesOfDividedCards) {
  const TemporaryFolder root;
  const std::string capabilities = root / "proc/driver/nvidia/capabilities";
  write_file(capabilities + "/mig/config", "");
  write_file(capabilities + "/gpu0/mig/gi1/access", "");
  write_file(capabilities + "/gpu0/mig/gi1/ci0/access", "");
  write_file(capabilities + "/gpu0/mig/gi2/ci1/access", "");
  write_file(capabilities + "/gpu1/mig/gi1/access", "");
  EXPECT_EQ(read_machine(root.path()).mig_instances,
            (std::vector<std::string>{"gpu0/mig/gi1/ci0", "gpu0/mig/gi2/ci1"}));
}

TEST(Machine, TheKernelsDriverTellsItsVersion) {
  const TemporaryFolder root;
  write_file(root / "proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
             "GCC version:  gcc version 12.2.0\n");
  Machine machine = read_machine(root.path());
  EXPECT_EQ(machine.kernel_driver, "580.95.05");
  EXPECT_TRUE(machine.open_kernel_module);

  write_file(
      root / "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.288.01  Thu Jan  1 00:00:00 UTC\n");
  machine = read_machine(root.path());
  EXPECT_EQ(machine.kernel_driver, "535.288.01");
  EXPECT_FALSE(machine.open_kernel_module);

  // The module's own word comes first.
  write_file(root / "sys/module/nvidia/version", "550.54.14\n");
  EXPECT_EQ(read_machine(root.path()).kernel_driver, "550.54.14");

  fs::remove(root / "sys/module/nvidia/version");
  write_file(root / "proc/driver/nvidia/version", "something else");
  EXPECT_EQ(read_machine(root.path()).kernel_driver, "");
}

TEST(Machine, TheKernelsDriverListsItsCards) {
  const TemporaryFolder root;
  write_file(root / "proc/driver/nvidia/gpus/0000:02:00.0/information", "no such lines\n");
  write_file(
      root / "proc/driver/nvidia/gpus/0000:01:00.0/information",
      "Model: \t\t NVIDIA GeForce RTX 4060\nIRQ:   \t\t 120\nGPU UUID: \t GPU-8932f937-d72c\n");
  const Machine machine = read_machine(root.path());
  ASSERT_EQ(machine.kernel_cards.size(), 2U);
  EXPECT_EQ(machine.kernel_cards[0].address, "0000:01:00.0");
  EXPECT_EQ(machine.kernel_cards[0].model, "NVIDIA GeForce RTX 4060");
  EXPECT_EQ(machine.kernel_cards[0].uuid, "GPU-8932f937-d72c");
  EXPECT_EQ(machine.kernel_cards[1].uuid, "");
}

TEST(Machine, NodesOfCardsAreToldFromTheDriversOthers) {
  const TemporaryFolder root;
  for (const char* name :
       {"nvidiactl", "nvidia-uvm", "nvidia-modeset", "nvidia0", "nvidia12", "null"}) {
    write_file(root / (std::string("dev/") + name), "");
  }
  const Machine machine = read_machine(root.path());
  EXPECT_EQ(machine.control_node, NodeState::Usable);
  EXPECT_EQ(machine.uvm_node, NodeState::Usable);
  ASSERT_EQ(machine.card_nodes.size(), 2U);
  EXPECT_EQ(machine.card_nodes[0].path, "/dev/nvidia0");
  EXPECT_EQ(machine.card_nodes[0].state, NodeState::Usable);
  EXPECT_EQ(machine.card_nodes[1].path, "/dev/nvidia12");
}

// Takes root's rights from this process for a while: root may open everything.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0), changed_(was_root_ && ::seteuid(65534) == 0) {}

  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

  ~AsNobody() {
    if (changed_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

  // False: this process is root and cannot be less.
  [[nodiscard]] bool works() const { return changed_ || !was_root_; }

 private:
  bool was_root_;
  bool changed_;
};

TEST(Machine, ANodeWithoutPermissionIsToldFromAMissingOne) {
  const TemporaryFolder root;
  ASSERT_EQ(::chmod(root.path().c_str(), 0755), 0);
  write_file(root / "dev/nvidiactl", "");
  ASSERT_EQ(::chmod((root / "dev/nvidiactl").c_str(), 0), 0);
  const AsNobody nobody;
  ASSERT_TRUE(nobody.works());
  const Machine machine = read_machine(root.path());
  EXPECT_EQ(machine.control_node, NodeState::NoPermission);
  EXPECT_EQ(machine.uvm_node, NodeState::Missing);
}

TEST(Machine, ANodeThatCannotBeOpenedForAnotherReasonHasFailed) {
  const TemporaryFolder root;
  fs::create_directories(root / "dev");
  fs::create_symlink("nvidiactl", root / "dev/nvidiactl");  // a loop
  EXPECT_EQ(read_machine(root.path()).control_node, NodeState::Failed);
}

TEST(Machine, ContainersAndWslAreKnownByTheirMarks) {
  for (const char* mark : {".dockerenv", "run/.containerenv", ".singularity.d/labels.json"}) {
    const TemporaryFolder root;
    write_file(root / mark, "");
    EXPECT_TRUE(read_machine(root.path()).container) << mark;
  }
  for (const char* groups :
       {"0::/kubepods/burstable/pod1\n", "0::/docker/abc\n", "0::/lxc/abc\n"}) {
    const TemporaryFolder root;
    write_file(root / "proc/1/cgroup", groups);
    EXPECT_TRUE(read_machine(root.path()).container) << groups;
  }
  const TemporaryFolder root;
  write_file(root / "proc/1/cgroup", "0::/init.scope\n");
  EXPECT_FALSE(read_machine(root.path()).container);
  write_file(root / "proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
  EXPECT_TRUE(read_machine(root.path()).wsl);
  EXPECT_EQ(read_machine(root.path()).wsl_node, NodeState::Missing);
  write_file(root / "dev/dxg", "");
  EXPECT_EQ(read_machine(root.path()).wsl_node, NodeState::Usable);
}

}  // namespace
}  // namespace mynah::gpu
