// KernelTable: every kernel of one level, as this machine runs it; null where the level has none.
#pragma once

#include <array>

#include "backend/cuda/kernels/list.h"
#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt {

using KernelTable = std::array<const HostKernel*, cuda::kKernelCount>;

// Defined once for each level that is built, by kernel_table.cpp.
template <int Level>
const KernelTable& kernel_table();

}  // namespace mynah::simt
