// The parts of gather_machine().
#pragma once

#include <string>
#include <vector>

#include "doctor/machine/machine_gather.h"
#include "doctor/tree.h"
#include "gpu/machine.h"

namespace mynah::doctor {

// What the parts go by.
struct MachineView {
  const Tree& tree;
  const MachineSearch& search;
  const Knowledge& knowledge;
  const gpu::Machine& system;  // what gpu/ sees of the same tree
};

// Cards of every maker on PCI, of NVIDIA's systems on a chip, and those that the driver lists.
// Displays of virtual machines and of servers' management chips are none.
[[nodiscard]] std::vector<Card> gather_cards(const MachineView& view);

// driver_libraries, no_driver_library, compat_libraries, library_folders, path_libraries, glibc.
void gather_libraries(const MachineView& view, Machine& machine);

// What is known of containers, inside of one and around it.
[[nodiscard]] Container gather_container(const MachineView& view);

// Lines of the kernel's log that the driver wrote (kernel_lines), and whether there is none but a
// journal of systemd's, which is not read. From /dev/kmsg, or where that may not be read, from
// files that a syslog daemon writes.
void gather_kernel_log(const Tree& tree, Machine& machine);

// The driver's library and release of a Windows tree.
void gather_windows(const Tree& tree, Machine& machine);

}  // namespace mynah::doctor
