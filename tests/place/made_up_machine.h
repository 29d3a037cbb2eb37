// A made-up root of a machine with NVIDIA's cards: what the system shows of them.
#pragma once

#include <filesystem>
#include <string>

#include "temporary_folder.h"

namespace mynah::test {

struct MadeUpMachine {
  MadeUpMachine() {
    write_file(root / "proc/cpuinfo", "processor : 0\nmodel name : Made Up 9000\n\n");
    write_file(root / "proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\n");
    write_file(root / "proc/sys/kernel/random/boot_id", "first\n");
  }

  // A card on PCI; `driver` empty: no driver of the kernel has it.
  void add_pci(const std::string& address, const std::string& driver = "nvidia") const {
    const std::string folder = root / ("sys/bus/pci/devices/" + address);
    write_file(folder + "/vendor", "0x10de\n");
    write_file(folder + "/class", "0x030000\n");
    if (!driver.empty()) {
      std::filesystem::create_directories(root / ("sys/bus/pci/drivers/" + driver));
      std::filesystem::create_symlink("../../drivers/" + driver, folder + "/driver");
    }
  }

  // The same, as NVIDIA's driver runs it, with its nodes.
  void add_card(const std::string& address, const std::string& uuid) const {
    add_pci(address);
    write_file(root / ("proc/driver/nvidia/gpus/" + address + "/information"),
               "Model: \t\t NVIDIA Fake\nGPU UUID: \t " + uuid + "\n");
    write_file(root / "sys/module/nvidia/version", "550.54.14\n");
    for (const char* node : {"nvidiactl", "nvidia-uvm", "nvidia0"}) {
      write_file(root / (std::string("dev/") + node), "");
    }
  }

  void put_to_sleep(const std::string& address) const {
    write_file(root / ("sys/bus/pci/devices/" + address + "/power/runtime_status"), "suspended\n");
  }

  TemporaryFolder root;
};

}  // namespace mynah::test
