// The texts in which a system tells about itself, read: the kernel's log, lists of PCI devices,
// Docker's settings and the like. All take any bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// Lines of the kernel's log that are kept, the newest, and how much of each.
inline constexpr size_t kMostKernelLines = 200;
inline constexpr size_t kMostKernelLineBytes = 400;

// The lines about NVIDIA's driver, oldest first: those of NVRM, which Xid's are, and modules of
// nvidia that the kernel rejects. `records` are those of /dev/kmsg (Documentation/ABI/testing/
// dev-kmsg of Linux: "6,1234,567890,-;message", continued in lines that begin with a blank), lines
// of a syslog file, or of dmesg. Of a file that holds several starts of the machine, the last
// counts ("Linux version ..."). All but printable ASCII becomes '?'.
[[nodiscard]] std::vector<std::string> kernel_lines(std::string_view records);

// An Xid, as a line of the kernel's log has it: "NVRM: Xid (PCI:0000:01:00): 79, pid=..., ...".
struct Xid {
  int number = 0;
  std::string pci;  // "0000:01:00"; empty: not told

  bool operator==(const Xid&) const = default;
};

[[nodiscard]] std::optional<Xid> read_xid(std::string_view line);

// A value of lines NAME=VALUE, quotes taken off (os-release(5)); empty: none.
[[nodiscard]] std::string setting_of(std::string_view text, std::string_view name);

// The words behind "NAME:" or "NAME   :" of the first such line (/proc/cpuinfo, /proc/self/status).
[[nodiscard]] std::vector<std::string> words_behind(std::string_view text, std::string_view name);

// Names by number of /etc/group (group(5)).
[[nodiscard]] std::map<uint64_t, std::string> group_names(std::string_view text);

// What pci.ids (of the PCI ID project, as hwdata has it) calls a device: "GB202 [GeForce RTX
// 5090]". Vendor and device are four small hexadecimal digits. Empty: not listed.
[[nodiscard]] std::string_view pci_name(std::string_view list, std::string_view vendor,
                                        std::string_view device);

// The part in brackets, which is what the device is sold as; all of a name that has none.
[[nodiscard]] std::string_view sold_as(std::string_view pci_name);

// The names of "runtimes" of Docker's daemon.json; none where it cannot be read.
[[nodiscard]] std::vector<std::string> docker_runtimes(std::string_view json);

// NVIDIA's release, "581.95", of the line "DriverVer = 10/08/2025, 32.0.15.8195" of a display
// driver's .inf file, in UTF-8 or UTF-16: its last five digits. Empty where there is no such line,
// or its version is not one of a display driver's (nvhda.inf, nvvad.inf and others count anew).
[[nodiscard]] std::string windows_driver_release(std::string_view inf);

// What "options nvidia ..." lines of modprobe.d(5) set for a parameter; empty: nothing.
[[nodiscard]] std::string module_option(std::string_view text, std::string_view parameter);

}  // namespace mynah::doctor
