#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "doctor/machine/machine_parts.h"
#include "doctor/machine/machine_text.h"

namespace mynah::doctor {
namespace {

// The kernel's buffer is 64 KiB to some MiB (CONFIG_LOG_BUF_SHIFT); of a file, its end.
constexpr size_t kMostLogBytes = size_t{4} << 20;

// The records of /dev/kmsg, one a read (dev-kmsg of Linux); empty where it is none or may not be
// read. Reading takes nothing away from other readers.
std::string read_kmsg(const std::string& path) {
  std::string text;
  const UniqueFd file(path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISCHR(info.st_mode)) {
    return text;
  }
  constexpr size_t kMostRecord = 8192;  // CONSOLE_EXT_LOG_MAX
  constexpr int kMostReads = 1 << 17;
  for (int reads = 0; reads < kMostReads && text.size() < kMostLogBytes; ++reads) {
    const size_t before = text.size();
    text.resize(before + kMostRecord);
    const ssize_t got = ::read(file.get(), text.data() + before, kMostRecord);
    text.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
    // Records that were overwritten meanwhile are passed by.
    if (got == 0 || (got < 0 && errno != EPIPE && errno != EINTR)) {
      break;
    }
  }
  return text;
}

}  // namespace

void gather_kernel_log(const Tree& tree, Machine& machine) {
  std::string text = read_kmsg(tree.opened_as("/dev/kmsg"));
  for (const std::string_view path : {"/dev/kmsg", "/var/log/kern.log", "/var/log/messages",
                                      "/var/log/syslog", "/var/log/dmesg"}) {
    if (!text.empty()) {
      break;
    }
    text = tree.last_words(path, kMostLogBytes);
  }
  machine.kernel_log = kernel_lines(text);
  machine.kernel_log_unread =
      text.empty() && (tree.has("/var/log/journal") || tree.has("/run/log/journal"));
}

}  // namespace mynah::doctor
