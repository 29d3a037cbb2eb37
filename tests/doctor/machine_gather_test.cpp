#include "doctor/machine/machine_gather.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "byte_builder.h"
#include "doctor/knowledge/knowledge.h"
#include "temporary_folder.h"

namespace mynah::doctor {
namespace {

using test::TemporaryFolder;
using test::write_file;

// A made-up tree of a machine.
class Tree {
 public:
  void file(const std::string& path, std::string_view text) { write_file(folder_ / path, text); }

  void link(const std::string& path, const std::string& target) {
    const std::filesystem::path at(folder_ / path);
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_symlink(target, at);
  }

  void pci(const std::string& address, std::string_view vendor, std::string_view device,
           const std::string& driver) {
    const std::string folder = "sys/bus/pci/devices/" + address;
    file(folder + "/vendor", std::string("0x").append(vendor) + "\n");
    file(folder + "/device", std::string("0x").append(device) + "\n");
    file(folder + "/class", "0x030000\n");
    if (!driver.empty()) {
      link(folder + "/driver", "../../../../bus/pci/drivers/" + driver);
    }
  }

  [[nodiscard]] Machine gather(std::map<std::string, std::string> variables = {}) const {
    MachineSearch search;
    search.root = folder_.path();
    search.variables = std::move(variables);
    return gather_machine(search, builtin_knowledge());
  }

 private:
  TemporaryFolder folder_;
};

constexpr std::string_view kPciIds =
    "# a list\n"
    "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
    "\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]\n"
    "10de  NVIDIA Corporation\n"
    "\t2684  AD102 [GeForce RTX 4090]\n"
    "\t\t10de 16f3  another name\n"
    "\t2b85  GB202 [GeForce RTX 5090]\n"
    "8086  Intel Corporation\n";

TEST(GatherMachine, AnOrdinaryLinuxMachineWithACardIsReadFromItsFiles) {
  Tree tree;
  tree.file("usr/share/misc/pci.ids", kPciIds);
  tree.pci("0000:01:00.0", "10de", "2684", "nvidia");
  tree.pci("0000:03:00.0", "1002", "744c", "amdgpu");
  tree.pci("0000:04:00.0", "1234", "1111", "bochs-drm");
  tree.file("sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "25753026560\n");
  tree.file("proc/driver/nvidia/gpus/0000:01:00.0/information",
            "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 160\n"
            "GPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n");
  tree.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n");
  tree.file("proc/driver/nvidia/params", "PreserveVideoMemoryAllocations: 0\n");
  tree.file("sys/power/suspend_stats/success", "3\n");
  tree.file("dev/nvidiactl", "");
  tree.file("dev/nvidia-uvm", "");
  tree.file("dev/nvidia0", "");
  tree.file("dev/dri/renderD128", "");
  tree.file("usr/lib/os-release", "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  tree.link("etc/os-release", "../usr/lib/os-release");
  tree.file("etc/group", "root:x:0:\nvideo:x:44:me\n");
  tree.file("proc/self/status", "Name:\tmynah\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000 \n");
  tree.file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\n");
  tree.file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  tree.file("usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "");
  tree.link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.580.95.05");
  tree.file("usr/local/cuda-12.9/compat/libcuda.so.575.57.08", "");
  tree.link("usr/local/cuda", "cuda-12.9");

  const Machine machine =
      tree.gather({{"CUDA_VISIBLE_DEVICES", "0"}, {"NVIDIA_API_KEY", "secret"}, {"HOME", "/root"}});

  ASSERT_EQ(machine.cards.size(), 2U);
  const Card& card = machine.cards[0];
  EXPECT_EQ(card.name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(card.compute_capability, "8.9");
  EXPECT_EQ(card.kernel_driver, "nvidia");
  EXPECT_EQ(card.uuid, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  EXPECT_EQ(machine.cards[1].name, "AMD Radeon RX 7900 XT/7900 XTX");
  EXPECT_EQ(machine.cards[1].memory_mib, 24560U);
  EXPECT_EQ(machine.driver, "580.95.05");
  EXPECT_TRUE(machine.open_kernel_module);
  EXPECT_FALSE(machine.closed_kernel_module);
  EXPECT_EQ(machine.slept, true);
  EXPECT_EQ(machine.keeps_memory_asleep, false);
  EXPECT_EQ(machine.release, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(machine.groups, (std::vector<std::string>{"video", "1000"}));
  EXPECT_EQ(machine.processor_flags, (std::vector<std::string>{"fpu", "sse2", "avx2"}));
  EXPECT_EQ(machine.nodes.size(), 4U);
  EXPECT_EQ(machine.driver_libraries,
            std::vector<std::string>{"/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"});
  EXPECT_EQ(machine.compat_libraries,
            std::vector<std::string>{"/usr/local/cuda-12.9/compat/libcuda.so.575.57.08"});
  EXPECT_EQ(machine.variables, (std::map<std::string, std::string>{{"CUDA_VISIBLE_DEVICES", "0"}}));
}

TEST(GatherMachine, ACardWithoutADriverIsNamedByTheListOfPciDevices) {
  Tree tree;
  tree.file("usr/share/hwdata/pci.ids", kPciIds);
  tree.pci("0000:01:00.0", "10de", "2b85", "nouveau");
  const Machine machine = tree.gather();
  ASSERT_EQ(machine.cards.size(), 1U);
  EXPECT_EQ(machine.cards[0].name, "NVIDIA GeForce RTX 5090");
  EXPECT_EQ(machine.cards[0].compute_capability, "12.0");
  EXPECT_EQ(machine.cards[0].kernel_driver, "nouveau");
}

// The loader's cache of one library, as tests/formats/ld_cache_test.cpp makes it.
std::string cache_of(const std::string& name, const std::string& path) {
  const std::string names = name + '\0' + path + '\0';
  constexpr uint32_t kAt = 48 + 24;
  test::ByteBuilder cache;
  cache.text("glibc-ld.so.cache1.1").u32(1).u32(names.size()).u8(2).zeros(3).u32(0).zeros(12);
  cache.u32(0x0303).u32(kAt).u32(kAt + name.size() + 1).u32(0).u64(0).text(names);
  return cache.bytes();
}

// Without the loader's cache nothing is known; with it, what it names was looked through.
TEST(GatherMachine, ThatThereIsNoLibraryOfTheDriverIsAFactOfItsOwn) {
  Tree tree;
  EXPECT_FALSE(tree.gather().no_driver_library);
  tree.file("etc/ld.so.cache", cache_of("libz.so.1", "/usr/lib/libz.so.1"));
  EXPECT_TRUE(tree.gather().no_driver_library);
  tree.file("usr/lib/libcuda.so.580.95.05", "");
  EXPECT_FALSE(tree.gather().no_driver_library);
}

TEST(GatherMachine, WhatTheDriverSaidIsTakenOverWhatFilesSay) {
  MachineSearch search;
  gpu::GpuDevice device;
  device.name = "NVIDIA H100";
  device.pci_bus_id = "0000:01:00.0";
  device.compute_major = 9;
  device.memory_bytes = uint64_t{80} << 30U;
  search.devices.push_back(device);
  gpu::NvmlCard known;
  known.pci_bus_id = "0000:01:00.0";
  known.divided = true;
  search.nvml.cards.push_back(known);
  const TemporaryFolder empty;
  search.root = empty.path();
  const Machine machine = gather_machine(search, builtin_knowledge());
  ASSERT_EQ(machine.cards.size(), 1U);
  EXPECT_EQ(machine.cards[0].compute_capability, "9.0");
  EXPECT_EQ(machine.cards[0].memory_mib, 81920U);
  EXPECT_TRUE(machine.cards[0].divided);
}

TEST(GatherMachine, LibrariesOfCudaInLdLibraryPathAreListedAndTheFirstLibcudaIsTheLoaders) {
  Tree tree;
  tree.file("opt/old/libcudnn.so.8.9.7", "");
  tree.link("opt/old/libcudnn.so.8", "libcudnn.so.8.9.7");
  tree.file("opt/old/libother.so", "");
  tree.file("usr/local/cuda/lib64/stubs/libcuda.so.1", "");
  tree.file("usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14", "");
  tree.link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.550.54.14");
  const Machine machine =
      tree.gather({{"LD_LIBRARY_PATH", "/opt/old:/usr/local/cuda/lib64/stubs::relative"}});
  EXPECT_EQ(machine.path_libraries, std::vector<std::string>{"/opt/old/libcudnn.so.8.9.7"});
  EXPECT_EQ(machine.driver_libraries,
            (std::vector<std::string>{"/usr/local/cuda/lib64/stubs/libcuda.so.1",
                                      "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14"}));
}

TEST(GatherMachine, LibrariesOfCudaInTheLoadersCacheAreListed) {
  Tree tree;
  tree.file("usr/local/cuda/lib64/libcublas.so.12.4.5.8", "");
  tree.link("usr/local/cuda/lib64/libcublas.so.12", "libcublas.so.12.4.5.8");
  tree.file("etc/ld.so.cache",
            cache_of("libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12"));
  EXPECT_EQ(tree.gather().cache_libraries,
            std::vector<std::string>{"/usr/local/cuda/lib64/libcublas.so.12.4.5.8"});
  tree.file("etc/ld.so.cache", cache_of("libz.so.1", "/usr/local/cuda/lib64/libcublas.so.12"));
  EXPECT_EQ(tree.gather().cache_libraries.size(), 1U);  // the file's name decides
  tree.file("etc/ld.so.cache", cache_of("libz.so.1", "/usr/lib/libz.so.1"));
  EXPECT_TRUE(tree.gather().cache_libraries.empty());
}

TEST(GatherMachine, ContainersAndDockerAreSeen) {
  Tree tree;
  tree.file(".dockerenv", "");
  tree.file("etc/docker/daemon.json",
            R"({"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}})");
  tree.file("usr/bin/docker", "");
  tree.file("usr/bin/nvidia-ctk", "");
  tree.file("etc/cdi/nvidia.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n");
  tree.file("snap/docker/current/bin/docker", "");
  const Container container = tree.gather().container;
  EXPECT_TRUE(container.inside);
  EXPECT_EQ(container.runtimes, std::vector<std::string>{"nvidia"});
  EXPECT_EQ(container.toolkit, true);
  EXPECT_EQ(container.cdi, true);
  EXPECT_TRUE(container.docker);
  EXPECT_TRUE(container.docker_snap);
}

TEST(GatherMachine, ThatThereIsNoToolkitIsAFactToo) {
  Tree tree;
  tree.file("usr/bin/docker", "");
  const Container container = tree.gather().container;
  EXPECT_EQ(container.toolkit, false);
  EXPECT_EQ(container.cdi, false);
  EXPECT_EQ(container.gives_cards(), false);
}

TEST(GatherMachine, OfAWindowsTreeTheNewestDisplayDriverOfItsStoreIsTheDrivers) {
  Tree tree;
  const std::string store = "Windows/System32/DriverStore/FileRepository/";
  tree.file("Windows/System32/nvcuda.dll", "");
  tree.file(store + "nv_dispi.inf_amd64_1/nv_dispi.inf", "DriverVer = 1/1/2024, 31.0.15.4633\r\n");
  tree.file(store + "nv_dispi.inf_amd64_2/nv_dispi.inf", "DriverVer = 1/1/2025, 32.0.15.8195\r\n");
  tree.file(store + "nvhda.inf_amd64_3/nvhda.inf", "DriverVer = 1/1/2025, 1.4.2.6\r\n");
  const Machine machine = tree.gather();
  EXPECT_EQ(machine.system, System::Windows);
  EXPECT_EQ(machine.driver, "581.95");
}

TEST(GatherMachine, AJournalThatIsNotReadIsSaidWhereThereIsNoOtherLog) {
  Tree tree;
  EXPECT_FALSE(tree.gather().kernel_log_unread);
  tree.file("var/log/journal/1/system.journal", "LPKSHHRH");
  EXPECT_TRUE(tree.gather().kernel_log_unread);
  tree.file("var/log/kern.log", "Nov 24 host kernel: Linux version 6.1.0\n");
  EXPECT_FALSE(tree.gather().kernel_log_unread);
}

TEST(GatherMachine, TheKernelsLogIsReadFromARegularFileOrSyslogAndOfTheLastStartAlone) {
  Tree tree;
  tree.file("var/log/kern.log",
            "Nov 23 host kernel: NVRM: Xid (PCI:0000:01:00): 31, pid=1\n"
            "Nov 24 host kernel: Linux version 6.1.0\n"
            "Nov 24 host kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=2\n"
            "Nov 24 host kernel: usb 1-1: new device\n");
  EXPECT_EQ(tree.gather().kernel_log,
            std::vector<std::string>{"Nov 24 host kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=2"});
}

TEST(GatherMachine, AWindowsTreeIsKnownAsOne) {
  Tree tree;
  tree.file("Windows/System32/nvcuda.dll", "");
  const Machine machine = tree.gather();
  EXPECT_EQ(machine.system, System::Windows);
  EXPECT_EQ(machine.driver_libraries, std::vector<std::string>{"/Windows/System32/nvcuda.dll"});
}

TEST(GatherMachine, APipeInPlaceOfAFileIsPassedBy) {
  Tree tree;
  tree.file("etc/group", "root:x:0:\n");
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "etc");
  ASSERT_EQ(::mkfifo((folder / "etc/os-release").c_str(), 0600), 0);
  MachineSearch search;
  search.root = folder.path();
  EXPECT_EQ(gather_machine(search, builtin_knowledge()).release, "");
}

TEST(GatherMachine, ThisMachineIsLookedAtInTime) {
  const Machine machine = gather_machine({}, builtin_knowledge());
  EXPECT_EQ(machine.system, System::Linux);
  EXPECT_FALSE(machine.processor_flags.empty());
  EXPECT_FALSE(machine.glibc.empty());
}

}  // namespace
}  // namespace mynah::doctor
