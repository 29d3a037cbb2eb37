#include "place/discovery/host.h"

#include <string>

#include <gtest/gtest.h>
#include <sched.h>

#include "temporary_folder.h"

namespace mynah::place {
namespace {

using test::TemporaryFolder;
using test::write_file;

cpu_set_t allowed_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

// Processors that this test may run on.
int allowed() {
  const cpu_set_t set = allowed_set();
  return CPU_COUNT(&set);
}

TEST(UsableCores, ThreadsOfOneCoreCountOnce) {
  const TemporaryFolder root;
  EXPECT_EQ(usable_cores(root.path()), allowed()) << "where nothing is told, each is a core";
  const cpu_set_t set = allowed_set();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      write_file(root / ("sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                         "/topology/thread_siblings_list"),
                 "0-1023\n");
    }
  }
  EXPECT_EQ(usable_cores(root.path()), 1);
}

TEST(UsableCores, AreThoseThatTheGroupPaysFor) {
  const TemporaryFolder root;
  write_file(root / "proc/self/cgroup", "0::/user/job\n");
  write_file(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  write_file(root / "sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_cores(root.path()), allowed());
  write_file(root / "sys/fs/cgroup/user/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(usable_cores(root.path()), 1) << "half a core";
  write_file(root / "sys/fs/cgroup/user/job/cpu.max", "10000000 100000\n");
  EXPECT_EQ(usable_cores(root.path()), allowed()) << "a hundred cores";
  // A group around it pays for less.
  write_file(root / "sys/fs/cgroup/user/cpu.max", "100000 100000\n");
  EXPECT_EQ(usable_cores(root.path()), 1);
}

// A container without a group namespace sees the host's path, and its own files at the mount.
TEST(UsableCores, InAContainerThatSeesTheHostsPath) {
  const TemporaryFolder root;
  write_file(root / "proc/self/cgroup", "0::/docker/123\n");
  write_file(root / "sys/fs/cgroup/cgroup.controllers", "cpu\n");
  write_file(root / "sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(usable_cores(root.path()), 1);
}

TEST(UsableCores, OfTheFirstVersionOfGroups) {
  const TemporaryFolder root;
  write_file(root / "proc/self/cgroup", "9:name=systemd:/\n2:cpu,cpuacct:/job\n0::/\n");
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(usable_cores(root.path()), allowed());
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(usable_cores(root.path()), 1);
}

TEST(ProcessorName, IsThatOfTheFirst) {
  const TemporaryFolder root;
  EXPECT_NE(processor_name(root.path()), "") << "the architecture";
  write_file(root / "proc/cpuinfo",
             "processor\t: 0\nmodel name\t: AMD EPYC 9R14\n\nprocessor\t: 1\nmodel name\t: B\n");
  EXPECT_EQ(processor_name(root.path()), "AMD EPYC 9R14");
}

TEST(HostMemory, IsTheMachines) {
  const TemporaryFolder root;
  EXPECT_EQ(host_memory(root.path()).total, 0U) << "not known";
  write_file(root / "proc/meminfo",
             "MemTotal:        1000 kB\nMemFree:  10 kB\nMemAvailable:     600 kB\n");
  EXPECT_EQ(host_memory(root.path()).total, 1000U * 1024);
  EXPECT_EQ(host_memory(root.path()).available, 600U * 1024);
}

TEST(HostMemory, IsTheGroupsWhereThatIsLess) {
  const TemporaryFolder root;
  write_file(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
  write_file(root / "proc/self/cgroup", "0::/job\n");
  write_file(root / "sys/fs/cgroup/cgroup.controllers", "memory\n");
  const std::string job = root / "sys/fs/cgroup/job";
  write_file(job + "/memory.max", "max\n");
  write_file(job + "/memory.current", "100000\n");
  EXPECT_EQ(host_memory(root.path()).total, 1000U * 1024);
  write_file(job + "/memory.max", "300000\n");
  EXPECT_EQ(host_memory(root.path()).total, 300'000U);
  EXPECT_EQ(host_memory(root.path()).available, 200'000U);
  // Pages of files that nobody used lately are given back.
  write_file(job + "/memory.stat", "anon 20000\ninactive_file 80000\n");
  EXPECT_EQ(host_memory(root.path()).available, 280'000U);
  // What the machine has left is the bound all the same.
  write_file(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 10 kB\n");
  EXPECT_EQ(host_memory(root.path()).available, 10U * 1024);
  write_file(job + "/memory.current", "900000\n");
  EXPECT_EQ(host_memory(root.path()).available, 0U) << "more is used than allowed";
}

TEST(HostMemory, OfTheFirstVersionOfGroups) {
  const TemporaryFolder root;
  write_file(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
  write_file(root / "proc/self/cgroup", "4:memory:/job\n");
  const std::string job = root / "sys/fs/cgroup/memory/job";
  write_file(job + "/memory.limit_in_bytes", "9223372036854771712\n");
  write_file(job + "/memory.usage_in_bytes", "100000\n");
  EXPECT_EQ(host_memory(root.path()).total, 1000U * 1024);
  write_file(job + "/memory.limit_in_bytes", "300000\n");
  write_file(job + "/memory.stat", "total_inactive_file 50000\n");
  EXPECT_EQ(host_memory(root.path()).available, 250'000U);
}

TEST(Host, OfThisMachineIsKnown) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), allowed());
  EXPECT_GT(host_memory().total, 0U);
  EXPECT_LE(host_memory().available, host_memory().total);
}

}  // namespace
}  // namespace mynah::place
