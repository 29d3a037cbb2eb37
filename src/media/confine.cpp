#include "media/confine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>

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
  Filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)), ok_(context_ != nullptr) {}

  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  ~Filter() { seccomp_release(context_); }

  template <class... Conditions>
  void allow(int call, Conditions... conditions) {
    ok_ = ok_ && seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, sizeof...(conditions),
                                  conditions...) == 0;
  }

  // libseccomp also sets no_new_privs.
  bool load() { return ok_ && seccomp_load(context_) == 0; }

 private:
  scmp_filter_ctx context_;
  bool ok_;
};

scmp_arg_cmp first_is(int fd) {
  return SCMP_A0_32(SCMP_CMP_EQ, static_cast<scmp_datum_t>(fd), 0);
}

// Memory that is not backed by a file and never executable.
void allow_memory(Filter& filter) {
  const auto never_executable = SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  filter.allow(SCMP_SYS(mmap), never_executable,
               SCMP_A3_64(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
  filter.allow(SCMP_SYS(mprotect), never_executable);
  for (const int call : {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise)}) {
    filter.allow(call);
  }
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
  // Locks within the process, the clock where it is not read without a call, and the end.
  for (const int call : {SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
                         SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn)}) {
    filter.allow(call);
  }
  return filter.load();
}

}  // namespace

std::string confine(int cpu_s) {
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
