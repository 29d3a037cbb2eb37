// Compiled once a level, with the kernels that this level has of its own; others are of a lower
// one.
#include "backend/cuda/simt/kernel_table.h"

#include "backend/cuda/simt/simt.h"
#include MYNAH_KERNEL_NAMES

namespace mynah::simt {

#define MYNAH_DECLARED(group, kernel_name, Args) MYNAH_DECLARE_##group(kernel_name)
MYNAH_ALL_KERNELS(MYNAH_DECLARED)
#undef MYNAH_DECLARED

template <>
const KernelTable& kernel_table<MYNAH_LEVEL>() {
#define MYNAH_ENTRY(group, kernel_name, Args) MYNAH_KERNEL_OF_##group(kernel_name),
  static constexpr KernelTable kTable = {{MYNAH_ALL_KERNELS(MYNAH_ENTRY)}};
#undef MYNAH_ENTRY
  return kTable;
}

}  // namespace mynah::simt
