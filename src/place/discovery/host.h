// The machine that mynah runs on: its processor and memory, as far as this process may use them.
#pragma once

#include <cstdint>
#include <string>

namespace mynah::place {

// What is read below a root folder is that of a test; empty: this machine's own.

// Physical cores that this process may run on, and that its control groups pay for; at least 1. A
// second thread on a core does not make matrix products faster.
[[nodiscard]] int usable_cores(const std::string& root = {});

// The processor's name, "AMD EPYC 9R14"; where the system does not tell it, its architecture.
[[nodiscard]] std::string processor_name(const std::string& root = {});

// In bytes; 0: not known.
struct HostMemory {
  uint64_t total = 0;      // of the machine, or the least limit of a control group
  uint64_t available = 0;  // without anything going to disk, as proc(5) has MemAvailable
};

// What is left to this process: a control group's limit counts where it is smaller. Files' pages
// that were not used lately are given back when they are needed, and count as free.
[[nodiscard]] HostMemory host_memory(const std::string& root = {});

}  // namespace mynah::place
