// Compiled once a level, with its kernels.
#include "backend/cuda/simt/kernel_table.h"

#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

#define MYNAH_DECLARED(group, kernel_name, Args) \
  extern const HostKernel MYNAH_NAME_AT_LEVEL(kernel_name, MYNAH_LEVEL);
MYNAH_ALL_KERNELS(MYNAH_DECLARED)
#undef MYNAH_DECLARED

template <>
const KernelTable& kernel_table<MYNAH_LEVEL>() {
#define MYNAH_ENTRY(group, kernel_name, Args) &MYNAH_NAME_AT_LEVEL(kernel_name, MYNAH_LEVEL),
  static constexpr KernelTable kTable = {{MYNAH_ALL_KERNELS(MYNAH_ENTRY)}};
#undef MYNAH_ENTRY
  return kTable;
}

}  // namespace mynah::simt
