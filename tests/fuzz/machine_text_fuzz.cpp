// The texts in which machines and toolkits tell about themselves: any bytes end in facts, or in
// nothing.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "doctor/machine/machine_text.h"
#include "doctor/machine/toolkit_text.h"
#include "doctor/tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace doctor = mynah::doctor;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = doctor::kernel_lines(text);
  if (lines.size() > doctor::kMostKernelLines) {
    __builtin_trap();
  }
  for (const std::string& line : lines) {
    static_cast<void>(doctor::read_xid(line));
    if (line.size() > doctor::kMostKernelLineBytes) {
      __builtin_trap();
    }
  }
  static_cast<void>(doctor::read_xid(text));
  static_cast<void>(doctor::setting_of(text, "PRETTY_NAME"));
  static_cast<void>(doctor::words_behind(text, "flags"));
  static_cast<void>(doctor::group_names(text));
  static_cast<void>(doctor::sold_as(doctor::pci_name(text, "10de", "2684")));
  static_cast<void>(doctor::docker_runtimes(text));
  static_cast<void>(doctor::module_option(text, "NVreg_PreserveVideoMemoryAllocations"));
  static_cast<void>(doctor::windows_driver_release(text));
  static_cast<void>(doctor::version_of_json(text));
  static_cast<void>(doctor::version_of_text(text));
  if (const auto number = doctor::defined_number(text, "CUDA_VERSION")) {
    static_cast<void>(doctor::version_of_cuda_number(*number));
    static_cast<void>(doctor::version_of_cub_number(*number));
  }
  static_cast<void>(doctor::compiler_limits(text));
  static_cast<void>(doctor::msc_version(text));
  return 0;
}
