// Host memory that is there from its begin on as far as it was written.
#pragma once

#include <cstddef>

#include "tensor/buffer.h"

namespace mynah {

// Addresses for so many bytes, zeros, on a page's boundary, whose pages come from the system when
// they are first written: huge ones where it has them. It counts for no pool. Throws DeviceError
// where the system gives no more addresses.
BufferRef reserve_host_memory(size_t bytes);

}  // namespace mynah
