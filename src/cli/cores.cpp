#include "cli/cores.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

namespace mynah::cli {

namespace {

// A group's share of processor time in whole cores; 0: no limit (control group v2, cpu.max).
int quota_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || period <= 0) {
    return 0;  // no such file, or "max"
  }
  return std::max(1, static_cast<int>(quota / period));
}

}  // namespace

int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  // Threads of one core name the same siblings.
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) {
      std::ifstream file(
          fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
      std::string siblings;
      if (!std::getline(file, siblings)) {
        siblings = std::to_string(cpu);
      }
      cores.insert(siblings);
    }
  }
  const int count = std::max(1, static_cast<int>(cores.size()));
  const int quota = quota_cores();
  return quota == 0 ? count : std::min(count, quota);
}

}  // namespace mynah::cli
