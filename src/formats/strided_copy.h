// Makes a tensor with strides contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace mynah {

// Whether these strides (in elements) are those of a contiguous row-major tensor.
[[nodiscard]] bool is_contiguous(std::span<const uint64_t> sizes,
                                 std::span<const uint64_t> strides);

// Copies the elements at `offset` (in elements) of `storage` in row-major order. Fails where one
// lies outside of the storage, and where there are more elements than the storage has (a tensor
// that repeats elements could ask for any amount of memory).
[[nodiscard]] Result<std::shared_ptr<const std::vector<std::byte>>> copy_strided(
    std::span<const std::byte> storage, size_t element_bytes, uint64_t offset,
    std::span<const uint64_t> sizes, std::span<const uint64_t> strides);

}  // namespace mynah
