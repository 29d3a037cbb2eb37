#include "media/confine.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

extern "C" {
#include <libavutil/cpu.h>
}

#include "audio/media_protocol.h"

namespace mynah::media {
namespace {

#if defined(MYNAH_ADDRESS_SANITIZER) || defined(MYNAH_THREAD_SANITIZER)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// The index of a ten-hour MP4 takes about 100 MiB; nothing known needs more than half of this.
constexpr rlim_t kMostDataBytes = rlim_t{512} << 20U;

bool limit(__rlimit_resource_t resource, rlim_t value, bool soft_only) {
  rlimit both{};
  if (::getrlimit(resource, &both) != 0) {
    return false;
  }
  both.rlim_cur = std::min(value, both.rlim_max);
  if (!soft_only) {
    both.rlim_max = both.rlim_cur;
  }
  return ::setrlimit(resource, &both) == 0;
}

class Filter {
 public:
  // What no rule names is answered as by a system that does not have it.
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS))), ok_(context_ != nullptr) {}

  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  ~Filter() { seccomp_release(context_); }

  template <class... Conditions>
  void allow(int call, Conditions... conditions) {
    add(SCMP_ACT_ALLOW, call, conditions...);
  }

  // The call is answered with the error `error`, and the process goes on.
  void refuse(int call, uint16_t error) { add(SCMP_ACT_ERRNO(error), call); }

  template <class... Conditions>
  void kill(int call, Conditions... conditions) {
    add(SCMP_ACT_KILL_PROCESS, call, conditions...);
  }

  // libseccomp also sets no_new_privs.
  bool load() { return ok_ && seccomp_load(context_) == 0; }

 private:
  template <class... Conditions>
  void add(uint32_t action, int call, Conditions... conditions) {
    ok_ =
        ok_ && seccomp_rule_add(context_, action, call, sizeof...(conditions), conditions...) == 0;
  }

  scmp_filter_ctx context_;
  bool ok_;
};

scmp_arg_cmp first_is(int fd) {
  return SCMP_A0_32(SCMP_CMP_EQ, static_cast<scmp_datum_t>(fd), 0);
}

// Memory that is not backed by a file and never executable.
void allow_memory(Filter& filter) {
  const auto never_executable = SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  const auto executable = SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
  filter.allow(SCMP_SYS(mmap), never_executable,
               SCMP_A3_64(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
  filter.allow(SCMP_SYS(mprotect), never_executable);
  filter.kill(SCMP_SYS(mmap), executable);
  filter.kill(SCMP_SYS(mprotect), executable);
  for (const int call : {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise)}) {
    filter.allow(call);
  }
}

// What libraries ask on the way and what reaches nothing: the clock, random numbers, locks within
// the process, which processors there are, and what abort() needs to end this process.
void allow_harmless(Filter& filter) {
  for (const int call : {SCMP_SYS(futex),
                         SCMP_SYS(sched_yield),
                         SCMP_SYS(clock_gettime),
                         SCMP_SYS(clock_getres),
                         SCMP_SYS(clock_nanosleep),
                         SCMP_SYS(nanosleep),
                         SCMP_SYS(gettimeofday),
                         SCMP_SYS(time),
                         SCMP_SYS(times),
                         SCMP_SYS(getrusage),
                         SCMP_SYS(getcpu),
                         SCMP_SYS(getrandom),
                         SCMP_SYS(sched_getaffinity),
                         SCMP_SYS(getpid),
                         SCMP_SYS(gettid),
                         SCMP_SYS(rt_sigprocmask),
                         SCMP_SYS(rt_sigaction),
                         SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(exit),
                         SCMP_SYS(exit_group)}) {
    filter.allow(call);
  }
  filter.allow(SCMP_SYS(tgkill), first_is(::getpid()));
}

// Files are asked for by harmless code too (the time zone, tables of characters, the random
// device), and do without.
void refuse_files(Filter& filter) {
  for (const int call :
       {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat), SCMP_SYS(access),
        SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat),
        SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(readlink), SCMP_SYS(readlinkat)}) {
    filter.refuse(call, EACCES);
  }
}

// What no decoder asks for, whatever the recording: the process has been taken over.
void kill_hostile(Filter& filter) {
  for (const int call : {SCMP_SYS(socket),
                         SCMP_SYS(socketpair),
                         SCMP_SYS(connect),
                         SCMP_SYS(bind),
                         SCMP_SYS(sendto),
                         SCMP_SYS(sendmsg),
                         SCMP_SYS(execve),
                         SCMP_SYS(execveat),
                         SCMP_SYS(fork),
                         SCMP_SYS(vfork),
                         SCMP_SYS(kill),
                         SCMP_SYS(tkill),
                         SCMP_SYS(ptrace),
                         SCMP_SYS(process_vm_readv),
                         SCMP_SYS(process_vm_writev),
                         SCMP_SYS(memfd_create),
                         SCMP_SYS(bpf),
                         SCMP_SYS(perf_event_open),
                         SCMP_SYS(io_uring_setup),
                         SCMP_SYS(unlink),
                         SCMP_SYS(unlinkat),
                         SCMP_SYS(rename),
                         SCMP_SYS(renameat2),
                         SCMP_SYS(mount),
                         SCMP_SYS(setuid)}) {
    filter.kill(call);
  }
  // A thread is answered that there is none (clone3() and what the C library tries after it);
  // another process is not.
  filter.kill(SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

bool take_system_calls() {
  Filter filter;
  allow_memory(filter);
  for (const int fd : {kMediaInputFd, kMediaSpoolFd, kMediaHeadFd}) {
    filter.allow(SCMP_SYS(read), first_is(fd));
    filter.allow(SCMP_SYS(lseek), first_is(fd));
  }
  filter.allow(SCMP_SYS(write), first_is(kMediaOutputFd));
  filter.allow(SCMP_SYS(lseek), first_is(kMediaOutputFd));
  filter.allow(SCMP_SYS(write), first_is(kMediaSpoolFd));
  allow_harmless(filter);
  refuse_files(filter);
  kill_hostile(filter);
  return filter.load();
}

// Answers now what would be looked up in files when it is first asked. Times of a recording's tags
// are written as UTC; a decoder runs on one thread.
void ask_early() {
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  av_cpu_force_count(1);
}

}  // namespace

std::string confine(int cpu_s) {
  ask_early();
  bool ok = limit(RLIMIT_CORE, 0, false);
  ok = ok && limit(RLIMIT_CPU, static_cast<rlim_t>(cpu_s), true);
  if (!kSanitized) {
    ok = ok && limit(RLIMIT_DATA, kMostDataBytes, false);
    ok = ok && take_system_calls();
  }
  return ok ? ""
            : std::string("is not decoded, as this system refuses to confine the decoder: ") +
                  std::strerror(errno);
}

}  // namespace mynah::media
