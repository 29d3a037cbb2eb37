#include "place/discovery/host.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>

#include "base/ascii.h"
#endif

namespace mynah::place {
namespace {

namespace fs = std::filesystem;

// The first number of a file; none: no such file, or a word such as "max".
std::optional<int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The number behind NAME in lines "NAME NUMBER" or "NAME: NUMBER kB".
std::optional<int64_t> entry_of(std::string_view text, std::string_view name) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(' ')) {
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of(' ', name.size()), line.size()));
    int64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec == std::errc()) {
      return number;
    }
  }
  return std::nullopt;
}

// A control group that this process is in, and those around it, whose limits count too
// (cgroups(7)). The second version has one tree, the first a tree for each controller.
struct Groups {
  bool second = false;
  std::vector<std::string> folders;
};

void add_folders(const std::string& mount, const fs::path& group, std::vector<std::string>& out) {
  // In a container the path may be the host's, which is not there: the mount's own files count.
  for (fs::path path = group; path.has_relative_path(); path = path.parent_path()) {
    if (fs::exists(mount + path.string())) {
      out.push_back(mount + path.string());
    }
  }
  if (fs::exists(mount)) {
    out.push_back(mount);
  }
}

Groups find_groups(const std::string& root, std::string_view controller) {
  Groups groups;
  std::ifstream file(root + "/proc/self/cgroup");
  const std::string mount = root + "/sys/fs/cgroup";
  // "4:cpu,cpuacct:/path", or of the second version "0::/path".
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string names = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (names.empty() && fs::exists(mount + "/cgroup.controllers")) {
      groups.second = true;
      add_folders(mount, path, groups.folders);
      return groups;
    }
    if (fmt::format(",{},", names).find(fmt::format(",{},", controller)) != std::string::npos) {
      const std::string joint = fmt::format("{}/{}", mount, names);
      add_folders(fs::exists(joint) ? joint : fmt::format("{}/{}", mount, controller), path,
                  groups.folders);
      return groups;
    }
  }
  return groups;
}

// A group's share of processor time in cores; none: no limit.
std::optional<double> quota_of(const std::string& folder, bool second) {
  if (second) {
    std::ifstream file(folder + "/cpu.max");
    double quota = 0;
    double period = 0;
    return file >> quota >> period && period > 0 ? std::optional(quota / period) : std::nullopt;
  }
  const auto quota = read_number(folder + "/cpu.cfs_quota_us");
  const auto period = read_number(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// What the processor says of itself; "": nothing. The kernel's file says the same, and asks every
// core how fast it runs before it does: a third of a millisecond.
std::string brand_string() {
#if defined(__x86_64__)
  constexpr unsigned kFirstLeaf = 0x80000002;
  std::array<unsigned, 12> words{};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned* const four = words.data() + size_t{4} * leaf;
    if (__get_cpuid(kFirstLeaf + leaf, four, four + 1, four + 2, four + 3) == 0) {
      return {};
    }
  }
  std::string name(reinterpret_cast<const char*>(words.data()), sizeof words);
  name.resize(std::min(name.find('\0'), name.size()));
  return std::string(trimmed(name, " "));
#else
  return {};
#endif
}

int cores_of_affinity(const std::string& root) {
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
          fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", root, cpu));
      std::string siblings;
      if (!std::getline(file, siblings)) {
        siblings = std::to_string(cpu);
      }
      cores.insert(siblings);
    }
  }
  return std::max(1, static_cast<int>(cores.size()));
}

}  // namespace

int usable_cores(const std::string& root) {
  int cores = cores_of_affinity(root);
  const Groups groups = find_groups(root, "cpu");
  for (const std::string& folder : groups.folders) {
    if (const auto quota = quota_of(folder, groups.second); quota && *quota < cores) {
      cores = std::max(1, static_cast<int>(*quota));
    }
  }
  return cores;
}

std::string processor_name(const std::string& root) {
  if (root.empty()) {
    if (std::string name = brand_string(); !name.empty()) {
      return name;
    }
  }
  // The first processor's lines alone: of all, a large machine takes long to tell.
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : std::string("processor");
}

HostMemory host_memory(const std::string& root) {
  constexpr int64_t kKiB = 1024;
  const std::string memory = read_text(root + "/proc/meminfo");
  int64_t total = entry_of(memory, "MemTotal:").value_or(0) * kKiB;
  int64_t available = entry_of(memory, "MemAvailable:").value_or(0) * kKiB;
  const Groups groups = find_groups(root, "memory");
  for (const std::string& folder : groups.folders) {
    const bool second = groups.second;
    const auto limit = read_number(folder + (second ? "/memory.max" : "/memory.limit_in_bytes"));
    const auto used = read_number(folder + (second ? "/memory.current" : "/memory.usage_in_bytes"));
    // The first version says "no limit" by a number near the largest.
    if (!limit || !used || *limit >= total) {
      continue;
    }
    const int64_t idle = entry_of(read_text(folder + "/memory.stat"),
                                  second ? "inactive_file" : "total_inactive_file")
                             .value_or(0);
    total = *limit;
    available = std::min(available, std::max<int64_t>(0, *limit - (*used - idle)));
  }
  return {.total = static_cast<uint64_t>(total), .available = static_cast<uint64_t>(available)};
}

}  // namespace mynah::place
